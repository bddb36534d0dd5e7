/** What the search for the records behind a difference needs, and what it is given. */
import type { Engine } from '../../warehouse/engine.ts'
import type { MetricDefinition } from '../definition.ts'
import type { Keys, Names } from '../group-shape.ts'
import type { Figures, MetricRange } from '../metric-query.ts'
import type { Asker } from '../their-metrics.ts'

export interface Explaining {
  readonly engine: Engine
  readonly asker: Asker
  readonly definition: MetricDefinition
  readonly names: Names
  /** Up to when timesheets were read, as the service writes times; undefined before the first sync. */
  readonly mark: string | undefined
  readonly range: MetricRange
}

export interface DifferingCell {
  readonly keys: Keys
  readonly ours: Figures | undefined
  readonly theirs: Figures | undefined
}
