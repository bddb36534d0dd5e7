/** What a calibration knows of the stored records. */
import type { Requisition } from '../explain/requisition.ts'
import { storedRequisitions } from '../explain/stored-requisitions.ts'
import { readNames } from '../metrics/group-keys.ts'
import { type MetricReader, measuring } from '../metrics/our-metrics.ts'
import type { Measured } from './answer-set.ts'
import { momentsOf, readZones } from './zones.ts'

export interface Records extends Measured {
  readonly requisitions: readonly Requisition[]
  /** Newest first, in milliseconds. */
  readonly acceptances: readonly number[]
  readonly weekEndings: readonly number[]
}

/** Only the newest moments are searched for a window. */
const most = 5000

const acceptances = `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null and not is_deleted`
const weekEndings = `select week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null and not is_deleted`

export async function readRecords(engine: MetricReader): Promise<Records> {
  return {
    measure: measuring(engine),
    names: await readNames(engine),
    zones: await readZones(engine),
    requisitions: [...(await storedRequisitions(engine, undefined)).values()],
    acceptances: await momentsOf(engine, acceptances, most),
    weekEndings: await momentsOf(engine, weekEndings, most),
  }
}
