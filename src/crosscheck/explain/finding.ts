/** What was found behind a difference: a record, or a definition. */
import type { Keys } from '../group-shape.ts'
import type { Metric } from '../metric-query.ts'

export interface Finding {
  readonly metric: Metric
  /** `newer` and `missing` come of when and what was read; `differs` and `unknown` of nothing that we know. */
  readonly kind: 'newer' | 'missing' | 'gone' | 'differs' | 'unknown' | 'definition'
  /** Reference or id; undefined when none could be named. */
  readonly record: string | undefined
  /** For people: what, and where it can be seen. */
  readonly sentence: string
  /** Project, agency, month or week of the cell it was found in; a definition is found everywhere. */
  readonly cell: Keys
  /** Theirs less ours, in acceptances or in hours, as far as the record accounts for it; null when that is not known. */
  readonly effect: number | null
}

/** Whether a finding leaves nothing open: what is missing here, or newer there, is expected to be read by a sync. */
export const isExplanation = ({ kind }: Finding): boolean =>
  kind === 'newer' || kind === 'missing' || kind === 'gone' || kind === 'definition'

/** Whether what was found in a cell counts in a group: their keys, as far as both have them, are the same. */
export function concernsGroup(cell: Keys, group: Keys): boolean {
  const month = group.month ?? (group.week ? undefined : cell.month)
  return (
    (['company', 'project', 'agency', 'week'] as const).every(
      key => cell[key] === undefined || group[key] === undefined || cell[key] === group[key],
    ) &&
    (month === undefined || cell.month === undefined || cell.month === month)
  )
}
