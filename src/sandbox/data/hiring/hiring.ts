/** From demand to work: requisitions, the assignments that answer them, and the terms both rest on. */

import { makePurchaseOrders } from '../billing/purchase-orders.ts'
import { makeRates } from '../billing/rate-cards.ts'
import type { Staff } from '../master/staff.ts'
import { type CompanyTrade, makeTradeRecords } from '../master/trades.ts'
import type { Seed } from '../seed.ts'
import type { Placement, PlacementMaker, Stage } from '../work/placements.ts'
import { AssignmentWriter } from './assignments.ts'
import { type Engagement, EngagementMaker } from './engagements.ts'
import { type RequisitionPlan, RequisitionPlanner } from './requisition-plan.ts'
import { RequisitionWriter, requisitionsByPlacement } from './requisitions.ts'

interface Hiring extends Stage {
  readonly staff: Staff
  readonly placements: PlacementMaker
  /** Those with timesheets. */
  readonly worked: readonly Placement[]
  readonly trades: readonly CompanyTrade[]
}

export function hiring(seed: Seed, cast: Hiring) {
  const { companies, worked, trades } = cast
  const plans = new RequisitionPlanner(seed, cast, cast.placements).plan(worked)
  const writer = new RequisitionWriter(seed, cast)
  const requisitions = plans.map(plan => writer.write(plan))
  const tradeRecords = makeTradeRecords(seed, companies, trades)
  const { orders, byPlacement } = makePurchaseOrders(seed, worked, { ...cast, tradeRecords })
  const byRequisition = requisitionsByPlacement(plans, requisitions)
  const engagements = engage(seed, cast, plans)
  const assignments = new AssignmentWriter(seed, {
    ...{ ...cast, tradeRecords, requisitions: byRequisition, orders: byPlacement },
    replacedBy: new Map(
      engagements.flatMap(({ placement, replaces }) => (replaces ? [[replaces, placement] as const] : [])),
    ),
  })
  return {
    trades: tradeRecords,
    rates: makeRates(seed, { ...cast, placements: worked }),
    requisitions,
    assignments: engagements.map(engagement => assignments.write(engagement)),
    purchaseOrders: orders,
  }
}

/** Work that was done, then work that was wanted; in order of assignment. */
function engage(seed: Seed, cast: Hiring, plans: readonly RequisitionPlan[]): Engagement[] {
  const maker = new EngagementMaker(seed, cast.placements, cast.sites)
  const known = new Set(cast.worked)
  const worked = cast.worked.flatMap(placement => maker.worked(placement))
  const wanted = plans.flatMap(plan =>
    plan.parties
      .flatMap(party => party.placements)
      .filter(placement => !known.has(placement))
      .map(placement => maker.wanted(placement, plan.dropouts.has(placement))),
  )
  return [...worked, ...wanted].sort((left, right) => left.placement.createdMs - right.placement.createdMs)
}
