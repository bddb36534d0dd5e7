/** Reads the stored records that a calibration needs. */
import { type ComparedRequisition, storedRequisitions } from '../explain/requisitions.ts'
import { readNames } from '../metrics/group-keys.ts'
import { type MetricReader, measuring } from '../metrics/our-metrics.ts'
import type { MeasuredSide } from './answer-set.ts'
import { readTimes, readZones } from './zones.ts'

export interface CalibrationRecords extends MeasuredSide {
  readonly requisitions: readonly ComparedRequisition[]
  /** Newest first, in milliseconds. */
  readonly acceptances: readonly number[]
  readonly weekEndings: readonly number[]
}

/** Only the newest acceptances are searched for a window. */
const maxAcceptances = 5000

const acceptances = `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null and not is_deleted`
const weekEndings = `select week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null and not is_deleted`

export async function readRecords(engine: MetricReader): Promise<CalibrationRecords> {
  return {
    measure: measuring(engine),
    names: await readNames(engine),
    zones: await readZones(engine),
    requisitions: [...(await storedRequisitions(engine, undefined)).values()],
    acceptances: await readTimes(engine, acceptances, maxAcceptances),
    weekEndings: await readTimes(engine, weekEndings, maxAcceptances),
  }
}
