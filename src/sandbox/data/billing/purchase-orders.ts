/** Purchase orders for the work of one agency on one project, in some or all trades. */
import { dayMs, startOfUtcDay, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { iso, reference, refOf } from '../identity.ts'
import type { MasterData } from '../master/master-data.ts'
import { officeRoles } from '../master/staff.ts'
import type { Seed } from '../seed.ts'
import type { Placement } from '../work/placements.ts'

export type PurchaseOrder = ReturnType<PurchaseOrderWriter['order']>

const ordered = 0.3
const poundsPerWeek = 1400

/** The orders, and the order of each placement that one pays for. */
export function makePurchaseOrders(seed: Seed, master: MasterData, placements: readonly Placement[]) {
  const writer = new PurchaseOrderWriter(seed, master)
  const draw = seed.draw('purchase orders drawn')
  const pairs = groupBy(placements, ({ project, agency }) => `${project.id} ${agency.id}`)
  const drawn = [...pairs.values()].filter(() => draw.chance(ordered))
  const written = drawn.map(pair => ({ pair, order: writer.order(pair) }))
  return {
    orders: written.map(({ order }) => order),
    byPlacement: new Map(
      written.flatMap(({ pair, order }) => pair.map(placement => [placement, order] as const)),
    ),
  }
}

class PurchaseOrderWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #master: MasterData
  #written = 0

  constructor(seed: Seed, master: MasterData) {
    this.#seed = seed
    this.#draw = seed.draw('purchase orders')
    this.#master = master
  }

  order(placements: readonly Placement[]) {
    const draw = this.#draw
    const [{ company, project, site, agency }] = placements as readonly [Placement]
    this.#written += 1
    const firstMs = Math.min(...placements.map(placement => placement.createdMs))
    const createdMs = firstMs - draw.between(1, 20) * dayMs
    const endMs = Math.max(...placements.map(placement => placement.weeks.at(-1) as number)) + 8 * weekMs
    const weeks = placements.reduce((sum, placement) => sum + placement.weeks.length, 0)
    const allTrades = draw.chance(0.35)
    const names = new Set(placements.map(placement => placement.trade.name))
    const known = this.#master.trades.filter(trade => trade.company.id === company.id)
    const tags = known.flatMap(trade => trade.tags)
    return {
      id: draw.id(createdMs),
      reference: reference('PO', this.#written),
      tradeOption: allTrades ? 'all' : 'specific',
      startDate: iso(startOfUtcDay(createdMs)),
      endDate: iso(endMs),
      value: weeks * poundsPerWeek + draw.between(0, 20) * 500,
      allTrades,
      company,
      site,
      agency: refOf(agency),
      projects: [project],
      trades: allTrades ? [] : known.filter(({ name }) => names.has(name)).map(refOf),
      ...(tags.length > 0 && draw.chance(0.2) ? { tag: refOf(draw.pick(tags)) } : {}),
      ...this.#life(company.id, createdMs, endMs),
      createdAt: iso(createdMs),
    }
  }

  /** Inactive after its end date or when revoked; active again when reinstated. */
  #life(companyId: string, createdMs: number, endMs: number) {
    const draw = this.#draw
    const { endMs: lastMs } = this.#seed
    const user = this.#master.staff.drawRef(draw, companyId, officeRoles)
    const isOver = endMs < lastMs
    if (isOver || !user || !draw.chance(0.35)) {
      const updatedMs = isOver ? endMs : draw.time(createdMs, createdMs + 30 * dayMs)
      return { status: isOver ? 'inactive' : 'active', updatedAt: iso(updatedMs) }
    }
    const revokedAt = iso(draw.time(createdMs, lastMs - dayMs))
    if (draw.chance(0.5)) {
      return { status: 'inactive', revoked: { user, date: revokedAt }, updatedAt: revokedAt }
    }
    const reinstatedAt = iso(draw.time(Date.parse(revokedAt), lastMs))
    return { status: 'active', reinstated: { user, date: reinstatedAt }, updatedAt: reinstatedAt }
  }
}
