/** Reads the stored records that the search for differences needs. */
import { requisitions } from '../../contract/resources/requisitions.ts'
import { timesheets } from '../../contract/resources/timesheets.ts'
import { lostIds, type NamedRequisition, unknownReferences } from '../../state/by-id/unknown-references.ts'
import { quarantinedIds } from '../../state/evidence/quarantine.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { PartyNames } from '../metrics/group-keys.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { type GroupMeasure, measuring } from '../metrics/our-metrics.ts'
import type { MetricClient } from '../metrics/their-metrics.ts'
import { type StoredRequisition, storedRequisitions } from './requisitions.ts'
import { countSheets, type SheetQuery, type StoredSheet, sheetsById, sheetsIn } from './sheets.ts'

type HoursDefinition = Pick<MetricDefinition, 'hoursField'>

export interface StoredRecords {
  readonly measure: GroupMeasure
  /** By id; all projects when none are given. */
  requisitions(projects: readonly string[] | undefined): Promise<ReadonlyMap<string, StoredRequisition>>
  /** Ids of requisitions that were stored once and are not any more. */
  lostRequisitions(): Promise<readonly string[]>
  /** Requisitions that other records name and that are not stored. */
  namedRequisitions(): Promise<readonly NamedRequisition[]>
  countSheets(look: SheetQuery): Promise<number>
  sheetsIn(look: SheetQuery, definition: HoursDefinition): Promise<ReadonlyMap<string, StoredSheet>>
  sheetsById(ids: readonly string[], definition: HoursDefinition): Promise<ReadonlyMap<string, StoredSheet>>
  /** Ids of timesheets in quarantine. */
  quarantinedSheets(): Promise<ReadonlySet<string>>
}

export interface ExplanationContext {
  readonly stored: StoredRecords
  readonly asker: MetricClient
  readonly definition: MetricDefinition
  readonly names: PartyNames
  /** Of timesheets, as the service writes times; none before the first sync. */
  readonly watermark: string | null | undefined
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
