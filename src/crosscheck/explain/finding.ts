/** The search for records behind a difference: what it gets, and what it finds. */
import type { Engine } from '../../warehouse/engine.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Keys, Names } from '../metrics/group-keys.ts'
import type { Figures, Metric, MetricRange } from '../metrics/metric-query.ts'
import type { Asker } from '../metrics/their-metrics.ts'

export interface Explaining {
  readonly engine: Engine
  readonly asker: Asker
  readonly definition: MetricDefinition
  readonly names: Names
  /** Of timesheets, as the service writes times; undefined before the first sync. */
  readonly watermark: string | undefined
  readonly range: MetricRange
}

export interface DifferingCell {
  readonly keys: Keys
  readonly ours: Figures | undefined
  readonly theirs: Figures | undefined
}

export interface Finding {
  readonly metric: Metric
  /** `newer`, `missing` and `deleted` follow from the time of the last sync; `differs` and `unknown` have no known cause. */
  readonly kind: 'newer' | 'missing' | 'deleted' | 'differs' | 'unknown' | 'definition'
  /** Reference or id; undefined when no record was found. */
  readonly record: string | undefined
  /** For people: what differs, and where to see it. */
  readonly sentence: string
  /** Project, agency, month or week of the cell; empty for a definition, which concerns every cell. */
  readonly cell: Keys
  /** The part of the difference that the record explains, theirs less ours, in acceptances or hours; null when unknown. */
  readonly effect: number | null
}

/** Whether a finding explains the difference: the next sync reads records that are missing here or newer there. */
export const isExplanation = ({ kind }: Finding): boolean =>
  kind === 'newer' || kind === 'missing' || kind === 'deleted' || kind === 'definition'

/** Whether a cell lies in a group: the keys that both have are equal. */
export function concernsGroup(cell: Keys, group: Keys): boolean {
  const month = group.month ?? (group.week ? undefined : cell.month)
  return (
    (['company', 'project', 'agency', 'week'] as const).every(
      key => cell[key] === undefined || group[key] === undefined || cell[key] === group[key],
    ) &&
    (month === undefined || cell.month === undefined || cell.month === month)
  )
}
