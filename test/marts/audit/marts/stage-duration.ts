import type { Service } from '../audited.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { dayOf, elapsedDays, groupBy, idOf, monthOf, quantile, ratio, sum } from '../words.ts'

const stages = [
  ['submitted', 'Submitted'],
  ['cvReviewed', 'CV reviewed'],
  ['interviewRequested', 'Interview requested'],
  ['interviewed', 'Interviewed'],
  ['offerMade', 'Offer made'],
  ['offerAccepted', 'Offer accepted'],
  ['offerRejected', 'Offer rejected'],
  ['assigned', 'Assigned'],
  ['missingCompliance', 'Missing compliance'],
] as const

const terminal = new Set(['offerRejected', 'assigned'])

interface Entry {
  readonly stage: string
  readonly place: readonly [agency: string, company: string, project: string, month: string]
  readonly isExit: boolean
  readonly isOpen: boolean
  /** Days until a step that has a date, to the eight decimals of total_days. */
  readonly days: number | null
}

/** Steps by date; after the last of them one without a date, where the record lists it later. */
function stepsOf({ history }: Raw): Raw[] {
  const dated = history
    .filter(({ at }: Raw) => at)
    .sort((one: Raw, other: Raw) => (one.at < other.at ? -1 : 1))
  const rest = history.slice(history.indexOf(dated.at(-1)) + 1)
  return [...dated, ...rest.filter(({ at }: Raw) => !at)]
}

function entriesOf({ live }: Service): Entry[] {
  return live.requisitions.flatMap(requisition =>
    (requisition.stageTracking ?? []).flatMap((tracked: Raw) => {
      const steps = stepsOf(tracked)
      const isRunning = ['raised', 'approved'].includes(requisition.status) && !tracked.isRejected
      return steps.flatMap(({ stage, at }, place): Entry[] => {
        if (!at) return []
        const next = steps[place + 1]
        return [
          {
            stage,
            place: [
              idOf(tracked.agency),
              idOf(requisition.company),
              idOf(requisition.project),
              monthOf(dayOf(at) as string),
            ],
            isExit: next !== undefined,
            isOpen: next === undefined && isRunning && !terminal.has(stage),
            days: next?.at ? Number(elapsedDays(at, next.at).toFixed(8)) : null,
          },
        ]
      })
    }),
  )
}

export const stageDuration: Audit = {
  mart: 'stage_duration',
  rows: service => {
    const groups = groupBy(entriesOf(service), ({ stage, place }) => [stage, ...place].join(' '))
    return [...groups.values()].map((entries): Expected => {
      const [{ stage, place }] = entries as [Entry]
      const ordinal = stages.findIndex(([name]) => name === stage)
      const days = entries.flatMap(entry => entry.days ?? [])
      const exits = entries.filter(({ isExit }) => isExit).length
      const open = entries.filter(({ isOpen }) => isOpen).length
      const total = sum(days, one => one)
      return {
        stage,
        agency_id: place[0],
        company_id: place[1],
        project_id: place[2],
        month_start_date: place[3],
        stage_label: stages[ordinal]?.[1] ?? null,
        stage_ordinal: ordinal + 1,
        entries: entries.length,
        exits,
        open_now: open,
        ended_here: entries.length - exits - open,
        measured_exits: days.length,
        total_days: days.length > 0 ? total : null,
        avg_days: ratio(total, days.length),
        median_days: quantile(days, 0.5),
        p90_days: quantile(days, 0.9),
      }
    })
  },
}
