/** What the search for records gets, and what it reads of the warehouse. */
import { requisitions } from '../../contract/resources/requisitions.ts'
import { timesheets } from '../../contract/resources/timesheets.ts'
import { lostIds, type NamedRequisition, unknownReferences } from '../../state/by-id/unknown-references.ts'
import { quarantinedIds } from '../../state/evidence/quarantine.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Names } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { type Measure, measuring } from '../metrics/our-metrics.ts'
import type { Asker } from '../metrics/their-metrics.ts'
import { type StoredRequisition, storedRequisitions } from './stored-requisitions.ts'
import { countSheets, type Look, type StoredSheet, sheetsById, sheetsIn } from './stored-sheets.ts'

type Definition = Pick<MetricDefinition, 'hoursField'>

export interface StoredRecords {
  readonly measure: Measure
  /** By id; of all projects when none are given. */
  requisitions(projects: readonly string[] | undefined): Promise<ReadonlyMap<string, StoredRequisition>>
  /** Ids of requisitions that were stored once, and are not any more. */
  lostRequisitions(): Promise<readonly string[]>
  /** Requisitions that other records name and that are not stored. */
  namedRequisitions(): Promise<readonly NamedRequisition[]>
  countSheets(look: Look): Promise<number>
  sheetsIn(look: Look, definition: Definition): Promise<ReadonlyMap<string, StoredSheet>>
  sheetsById(ids: readonly string[], definition: Definition): Promise<ReadonlyMap<string, StoredSheet>>
  /** Ids of timesheets in quarantine. */
  quarantinedSheets(): Promise<ReadonlySet<string>>
}

export interface Explaining {
  readonly stored: StoredRecords
  readonly asker: Asker
  readonly definition: MetricDefinition
  readonly names: Names
  /** Of timesheets, as the service writes times; undefined before the first sync. */
  readonly watermark: string | undefined
  readonly range: MetricRange
}

export const storedRecords = (engine: Engine): StoredRecords => ({
  measure: measuring(engine),
  requisitions: projects => storedRequisitions(engine, projects),
  lostRequisitions: () => lostIds(engine, requisitions),
  namedRequisitions: () => unknownReferences(engine),
  countSheets: look => countSheets(engine, look),
  sheetsIn: (look, definition) => sheetsIn(engine, look, definition),
  sheetsById: (ids, definition) => sheetsById(engine, ids, definition),
  quarantinedSheets: () => quarantinedIds(engine, timesheets.name),
})
