/** Purchase orders: for the work of one agency on one project, for some or all of its trades. */
import { dayMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import { officeRoles, type Staff } from '../master/staff.ts'
import type { CompanyTrade, TradeRecord } from '../master/trades.ts'
import type { Seed } from '../seed.ts'
import type { Placement } from '../work/placements.ts'

export type PurchaseOrder = ReturnType<PurchaseOrderWriter['order']>

interface PurchaseOrderCast {
  readonly trades: readonly CompanyTrade[]
  readonly tradeRecords: readonly TradeRecord[]
  readonly staff: Staff
}

const ordered = 0.3
const poundsPerWeek = 1400

/** With the placements that each one pays for, by agency and project. */
export function makePurchaseOrders(seed: Seed, placements: readonly Placement[], cast: PurchaseOrderCast) {
  const writer = new PurchaseOrderWriter(seed, cast)
  const draw = seed.draw('purchase orders drawn')
  const pairs = new Map<string, Placement[]>()
  for (const placement of placements) {
    const name = `${placement.project.id} ${placement.agency.id}`
    const pair = pairs.get(name)
    if (pair) pair.push(placement)
    else pairs.set(name, [placement])
  }
  const orders: PurchaseOrder[] = []
  const byPlacement = new Map<Placement, PurchaseOrder>()
  for (const pair of pairs.values()) {
    if (!draw.chance(ordered)) continue
    const order = writer.order(pair)
    orders.push(order)
    for (const placement of pair) byPlacement.set(placement, order)
  }
  return { orders, byPlacement }
}

class PurchaseOrderWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #cast: PurchaseOrderCast
  #written = 0

  constructor(seed: Seed, cast: PurchaseOrderCast) {
    this.#seed = seed
    this.#draw = seed.draw('purchase orders')
    this.#cast = cast
  }

  order(placements: readonly Placement[]) {
    const draw = this.#draw
    const cast = this.#cast
    const [{ company, project, site, agency }] = placements as readonly [Placement]
    this.#written += 1
    const firstMs = Math.min(...placements.map(placement => placement.createdMs))
    const createdMs = firstMs - draw.between(1, 20) * dayMs
    const endMs = Math.max(...placements.map(placement => placement.weeks.at(-1) as number)) + 8 * weekMs
    const weeks = placements.reduce((sum, placement) => sum + placement.weeks.length, 0)
    const allTrades = draw.chance(0.35)
    const trades = allTrades ? [] : this.#tradesOf(placements)
    const records = cast.tradeRecords.filter(row => row.company.id === company.id)
    const tags = records.flatMap(row => row.tags)
    return {
      id: draw.id(createdMs),
      reference: reference('PO', this.#written),
      tradeOption: allTrades ? 'all' : 'specific',
      startDate: iso(Math.floor(createdMs / dayMs) * dayMs),
      endDate: iso(endMs),
      value: weeks * poundsPerWeek + draw.between(0, 20) * 500,
      allTrades,
      company,
      site,
      agency: refOf(agency),
      projects: [project],
      trades,
      ...(tags.length > 0 && draw.chance(0.2) ? { tag: refOf(draw.pick(tags)) } : {}),
      ...this.#life(company.id, createdMs, endMs),
      createdAt: iso(createdMs),
    }
  }

  #tradesOf(placements: readonly Placement[]): Ref[] {
    const names = new Set(placements.map(placement => placement.trade.name))
    const companyId = placements[0]?.company.id
    return this.#cast.trades.filter(row => row.companyId === companyId && names.has(row.name)).map(refOf)
  }

  /** Inactive once its days are over or it is revoked; reinstated, it is active again. */
  #life(companyId: string, createdMs: number, endMs: number) {
    const draw = this.#draw
    const seed = this.#seed
    const user = this.#cast.staff.drawRef(draw, companyId, officeRoles)
    if (endMs < seed.endMs || !user || !draw.chance(0.35)) {
      const over = endMs < seed.endMs
      const updatedMs = over ? endMs : draw.time(createdMs, createdMs + 30 * dayMs)
      return { status: over ? 'inactive' : 'active', updatedAt: iso(updatedMs) }
    }
    const revokedMs = draw.time(createdMs, seed.endMs - dayMs)
    if (draw.chance(0.5)) {
      return {
        status: 'inactive',
        revoked: { user, date: iso(revokedMs) },
        updatedAt: iso(revokedMs),
      }
    }
    const reinstatedMs = draw.time(revokedMs, seed.endMs)
    return { status: 'active', reinstated: { user, date: iso(reinstatedMs) }, updatedAt: iso(reinstatedMs) }
  }
}
