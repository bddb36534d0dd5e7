import type { Planted } from '../../planting.ts'
import type { Audit, Expected } from '../compare.ts'
import { lastDayOf } from '../engagements.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, groupBy, idOf, monthOf } from '../words.ts'

export const planted: readonly Planted[] = [
  {
    check: 'mart_lost_totals',
    subject: 'mart.lost_placements',
    rows: 1,
    statements: [`delete from mart.lost_placements where loss = 'assignment ended'`],
  },
]

interface Loss {
  readonly loss: string
  readonly stage: string
  readonly company: string
  readonly agency: string
  readonly day: string | null
  readonly hasReason: boolean
}

function rejectedOf(requisition: Raw): Loss[] {
  return requisition.agencies.flatMap((agency: Raw) =>
    agency.submissions
      .filter(({ isRejected }: Raw) => isRejected)
      .map((submission: Raw) => {
        const tracked = (requisition.stageTracking ?? []).filter(
          (one: Raw) => idOf(one.agency) === agency.id && idOf(one.worker) === idOf(submission.worker),
        )
        return {
          loss: 'worker rejected',
          stage:
            tracked
              .map(({ stage }: Raw) => stage)
              .sort()
              .at(-1) ?? 'not tracked',
          company: idOf(requisition.company),
          agency: agency.id,
          day: dayOf(submission.submittedAt ?? requisition.createdAt),
          hasReason: Boolean(submission.rejectionReason),
        }
      }),
  )
}

const cancelledOf = (requisition: Raw): Loss[] =>
  requisition.status === 'cancelled'
    ? [
        {
          loss: 'requisition cancelled',
          stage: requisition.approvedDate ? 'approved' : 'not approved',
          company: idOf(requisition.company),
          agency: '-1',
          day: dayOf(requisition.cancellation?.date ?? requisition.createdAt),
          hasReason: Boolean(requisition.cancellation?.reason),
        },
      ]
    : []

function endedOf(assignment: Raw): Loss[] {
  const { status, startDate, ended } = assignment
  const place = {
    stage: assignment.rateType ?? 'none',
    company: idOf(assignment.company),
    agency: idOf(assignment.agency),
  }
  if (status === 'cancelled')
    return [{ ...place, loss: 'assignment cancelled', day: dayOf(startDate), hasReason: false }]
  if (status !== 'ended') return []
  const hasReason = Boolean(ended?.reason)
  return [{ ...place, loss: 'assignment ended', day: lastDayOf(assignment), hasReason }]
}

export const lostPlacements: Audit = {
  mart: 'lost_placements',
  rows: ({ live }) => {
    const losses = [
      ...live.requisitions.flatMap(one => [...rejectedOf(one), ...cancelledOf(one)]),
      ...live.assignments.flatMap(endedOf),
    ].filter(({ day }) => day !== null)
    const groups = groupBy(losses, ({ loss, stage, company, agency, day }) =>
      [loss, stage, company, agency, monthOf(day as string)].join('|'),
    )
    return [...groups].map(([key, own]): Expected => {
      const [loss = '', stage = '', company = '', agency = '', month = ''] = key.split('|')
      const reasons = own.filter(({ hasReason }) => hasReason).length
      return {
        loss,
        stage,
        company_id: company,
        agency_id: agency,
        month_start_date: month,
        losses: own.length,
        with_reason: reasons,
        reason_ratio: reasons / own.length,
      }
    })
  },
}
