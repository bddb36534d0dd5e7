/** Purchase orders: for the work of one agency on one project, for some or all of its trades. */
import type { Rng } from '../../../lib/rng.ts'
import { DAY_MS, WEEK_MS } from '../calendar.ts'
import { between, chance, pick } from '../draw.ts'
import { iso, objectId, type Ref, reference, refOf } from '../identity.ts'
import { officeRoles, type Staff } from '../master/staff.ts'
import type { CompanyTrade, TradeRecord } from '../master/trades.ts'
import { type Seed, timeBetween } from '../seed.ts'
import type { Placement } from '../work/placements.ts'

export type PurchaseOrder = ReturnType<PurchaseOrderWriter['order']>

interface PurchaseOrderCast {
  readonly trades: readonly CompanyTrade[]
  readonly tradeRecords: readonly TradeRecord[]
  readonly staff: Staff
}

const ORDERED = 0.3
const POUNDS_PER_WEEK = 1400

/** With the placements that each one pays for, by agency and project. */
export function makePurchaseOrders(seed: Seed, placements: readonly Placement[], cast: PurchaseOrderCast) {
  const writer = new PurchaseOrderWriter(seed, cast)
  const rng = seed.rng('purchase orders drawn')
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
    if (!chance(rng, ORDERED)) continue
    const order = writer.order(pair)
    orders.push(order)
    for (const placement of pair) byPlacement.set(placement, order)
  }
  return { orders, byPlacement }
}

class PurchaseOrderWriter {
  private readonly seed: Seed
  private readonly rng: Rng
  private readonly cast: PurchaseOrderCast
  private written = 0

  constructor(seed: Seed, cast: PurchaseOrderCast) {
    this.seed = seed
    this.rng = seed.rng('purchase orders')
    this.cast = cast
  }

  order(placements: readonly Placement[]) {
    const { rng, cast } = this
    const [{ company, project, site, agency }] = placements as readonly [Placement]
    this.written += 1
    const firstMs = Math.min(...placements.map(placement => placement.createdMs))
    const createdMs = firstMs - between(rng, 1, 20) * DAY_MS
    const endMs = Math.max(...placements.map(placement => placement.weeks.at(-1) as number)) + 8 * WEEK_MS
    const weeks = placements.reduce((sum, placement) => sum + placement.weeks.length, 0)
    const allTrades = chance(rng, 0.35)
    const trades = allTrades ? [] : this.tradesOf(placements)
    const records = cast.tradeRecords.filter(row => row.company.id === company.id)
    const tags = records.flatMap(row => row.tags)
    return {
      id: objectId(rng, createdMs),
      reference: reference('PO', this.written),
      tradeOption: allTrades ? 'all' : 'specific',
      startDate: iso(Math.floor(createdMs / DAY_MS) * DAY_MS),
      endDate: iso(endMs),
      value: weeks * POUNDS_PER_WEEK + between(rng, 0, 20) * 500,
      allTrades,
      company,
      site,
      agency: refOf(agency),
      projects: [project],
      trades,
      ...(tags.length > 0 && chance(rng, 0.2) ? { tag: refOf(pick(rng, tags)) } : {}),
      ...this.life(company.id, createdMs, endMs),
      createdAt: iso(createdMs),
    }
  }

  private tradesOf(placements: readonly Placement[]): Ref[] {
    const names = new Set(placements.map(placement => placement.trade.name))
    const companyId = placements[0]?.company.id
    return this.cast.trades.filter(row => row.companyId === companyId && names.has(row.name)).map(refOf)
  }

  /** Inactive once its days are over or it is revoked; reinstated, it is active again. */
  private life(companyId: string, createdMs: number, endMs: number) {
    const { rng, seed } = this
    const user = this.cast.staff.drawRef(rng, companyId, officeRoles)
    if (endMs < seed.endMs || !user || !chance(rng, 0.35)) {
      const over = endMs < seed.endMs
      const updatedMs = over ? endMs : timeBetween(seed, rng, [createdMs, createdMs + 30 * DAY_MS])
      return { status: over ? 'inactive' : 'active', updatedAt: iso(updatedMs) }
    }
    const revokedMs = timeBetween(seed, rng, [createdMs, seed.endMs - DAY_MS])
    if (chance(rng, 0.5)) {
      return {
        status: 'inactive',
        revoked: { user, date: iso(revokedMs) },
        updatedAt: iso(revokedMs),
      }
    }
    const reinstatedMs = timeBetween(seed, rng, [revokedMs, seed.endMs])
    return { status: 'active', reinstated: { user, date: iso(reinstatedMs) }, updatedAt: iso(reinstatedMs) }
  }
}
