import type { Audit } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { contactOf, elapsedHours, idOf, md5 } from '../words.ts'

export const approvalCycle: Audit = {
  mart: 'approval_cycle',
  rows: ({ live, asOf }) =>
    live.requisitions.flatMap(requisition =>
      requisition.approvalStages.map((stage: Raw, place: number) => {
        const before: Raw[] = requisition.approvalStages.slice(0, place)
        const isItsTurn = before.every(({ approved }) => approved)
        // A requisition that was cancelled or rejected waits for nobody.
        const waited = stage.approved || requisition.status === 'raised'
        const since =
          isItsTurn && waited ? (place === 0 ? requisition.createdAt : before.at(-1).approvedAt) : null
        const isPending = requisition.status === 'raised' && isItsTurn && !stage.approved
        const until = stage.approved ? stage.approvedAt : isPending ? asOf : null
        return {
          requisition_approval_stage_key: md5(requisition.id, place + 1),
          requisition_id: requisition.id,
          requisition_reference: requisition.reference,
          requisition_status: requisition.status,
          company_id: idOf(requisition.company),
          project_id: idOf(requisition.project),
          trade_id: idOf(requisition.trade),
          stage: stage.stage,
          stage_name: stage.name,
          approver_contact_id: contactOf(stage.approver),
          is_approved: stage.approved,
          is_pending: isPending,
          waiting_since_at: since,
          approved_at: stage.approvedAt,
          hours_waiting: since && until ? elapsedHours(since, until) : null,
        }
      }),
    ),
}
