import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, groupBy, idOf, ratio } from '../words.ts'

const steps = ['submitted', 'cvReviewed', 'interviewed', 'offerMade', 'offerAccepted', 'assigned']

/** The step of the funnel that a stage of the service stands for. */
const stepOf: Readonly<Record<string, number>> = {
  submitted: 0,
  cvReviewed: 1,
  interviewRequested: 1,
  interviewed: 2,
  offerMade: 3,
  offerRejected: 3,
  offerAccepted: 4,
  assigned: 5,
}

const reachedBy = ({ stage, history }: Raw): number =>
  Math.max(0, ...[stage, ...history.map((one: Raw) => one.stage)].map(name => stepOf[name] ?? 0))

/** The stage with most drop-outs; of equals the one whose workers had come least far, then the first by name. */
function droppedOf(tracked: readonly Raw[]): { stage: string | null; step: string | null } {
  const dropped = tracked.filter(one => one.isRejected || one.stage === 'offerRejected')
  const [first] = [...groupBy(dropped, ({ stage }) => stage)]
    .map(([stage, own]) => ({ stage, count: own.length, reached: Math.max(...own.map(reachedBy)) }))
    .sort(
      (one, other) =>
        other.count - one.count || one.reached - other.reached || (one.stage < other.stage ? -1 : 1),
    )
  return first ? { stage: first.stage, step: steps[first.reached] as string } : { stage: null, step: null }
}

export const requisitionFunnel: Audit = {
  mart: 'requisition_funnel',
  rows: ({ live }) =>
    live.requisitions.flatMap(requisition =>
      requisition.agencies.map((agency: Raw): Expected => {
        const tracked = (requisition.stageTracking ?? []).filter((one: Raw) => idOf(one.agency) === agency.id)
        const at = (step: string): number =>
          tracked.filter((one: Raw) => reachedBy(one) >= steps.indexOf(step)).length
        const [submitted, reviewed, interviewed] = [tracked.length, at('cvReviewed'), at('interviewed')]
        const [made, accepted, assigned] = [at('offerMade'), at('offerAccepted'), at('assigned')]
        const drop = droppedOf(tracked)
        return {
          requisition_id: requisition.id,
          agency_id: agency.id,
          requisition_reference: requisition.reference,
          requisition_status: requisition.status,
          company_id: idOf(requisition.company),
          project_id: idOf(requisition.project),
          trade_id: idOf(requisition.trade),
          requisition_created_date: dayOf(requisition.createdAt),
          offered: agency.offered,
          filled: agency.assigned,
          submissions: agency.submissions.length,
          ...{
            submitted,
            cv_reviewed: reviewed,
            interviewed,
            offer_made: made,
            offer_accepted: accepted,
            assigned,
          },
          rejected: tracked.filter((one: Raw) => one.isRejected).length,
          offers_rejected: tracked.filter((one: Raw) => one.stage === 'offerRejected').length,
          missing_compliance: tracked.filter((one: Raw) => one.stage === 'missingCompliance').length,
          reviewed_ratio: ratio(reviewed, submitted),
          interviewed_ratio: ratio(interviewed, reviewed),
          offer_ratio: ratio(made, interviewed),
          accepted_ratio: ratio(accepted, made),
          assigned_ratio: ratio(assigned, accepted),
          submitted_to_assigned_ratio: ratio(assigned, submitted),
          dropped_at_stage: drop.stage,
          dropped_at_step: drop.step,
        }
      }),
    ),
}
