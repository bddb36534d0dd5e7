/** What the search for the records behind a difference gets. */
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Names } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import type { Asker } from '../metrics/their-metrics.ts'
import type { StoredRecords } from './stored-records.ts'

export interface Explaining {
  readonly stored: StoredRecords
  readonly asker: Asker
  readonly definition: MetricDefinition
  readonly names: Names
  /** Of timesheets, as the service writes times; undefined before the first sync. */
  readonly watermark: string | undefined
  readonly range: MetricRange
}
