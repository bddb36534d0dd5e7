/** What scans have seen until they are decided: their ids, and the moments when their passes began. */
import type { Engine } from '../../warehouse/engine.ts'
import { chunks } from '../chunks.ts'
import { ledger } from '../ledger.ts'
import { numberOf, onlyRow } from '../only-row.ts'
import type { ScanIdRow, ScanPassRow } from './tables.ts'

/** A scan that counts the ids on its pages. */
export interface SeenBy {
  readonly scanId: string
  /** The list is filtered by updatedAt: a record may have existed long before it came into the list. */
  readonly isFiltered: boolean
}

/** Inside a merge, when the temporary table stage_seen exists: the ids on the pages of its batch. */
export async function addStagedIds(engine: Engine, { scanId, isFiltered }: SeenBy): Promise<void> {
  const existed = isFiltered ? 'changed_at' : 'existed_at'
  await engine.run(
    `insert into ops.scan_id (scan_id, record_id, first_pass, last_pass, front_pass, existed_at, changed_at)
     select $1, id, first_pass, last_pass, front_pass, ${existed}, changed_at from stage_seen`,
    [scanId],
  )
}

export async function addIds(engine: Engine, rows: readonly ScanIdRow[]): Promise<void> {
  for (const some of chunks(rows)) await ledger(engine).insertInto('ops.scan_id').values(some).execute()
}

/** A moment at which a pass began; see sync/paging/proof.ts. */
export interface Moment {
  readonly pass: number
  /** Milliseconds since the epoch. */
  readonly before: number | null
}

export interface Question {
  readonly scanId: string
  readonly moments: readonly Moment[]
  /** Only records changed since, in milliseconds since the epoch. */
  readonly since?: number
}

export interface IdCounts {
  /** Different ids that the scan has seen. */
  readonly ids: number
  /** Of them, those that its last pass has seen. */
  readonly inLastPass: number
  /** For each moment, the ids that count for it: `counts` of sync/paging/proof.ts as SQL. */
  readonly counted: readonly number[]
}

const integer = (value: number): string => String(Math.trunc(value))

function countedFor({ pass, before }: Moment, index: number): string {
  const existed = before === null ? 'false' : `coalesce(existed_at <= ${integer(before)}, false)`
  return `count(case when last_pass >= ${pass} and (first_pass < ${pass} or is_front_${index} = 1 or ${existed}) then 1 end) as n${index}`
}

export async function countIds(engine: Engine, { scanId, moments, since }: Question): Promise<IdCounts> {
  const last = Math.max(0, ...moments.map(({ pass }) => pass))
  const fronts = moments.map(
    ({ pass }, index) => `, max(case when front_pass = ${pass} then 1 else 0 end) as is_front_${index}`,
  )
  const counts = moments.map((moment, index) => `, ${countedFor(moment, index)}`)
  const row = await onlyRow<Record<string, number>>(
    engine,
    `select count(*) as n, count(case when last_pass = ${last} then 1 end) as in_last ${counts.join('')} from (
       select record_id, min(first_pass) as first_pass, max(last_pass) as last_pass, min(existed_at) as existed_at ${fronts.join('')}
       from ops.scan_id where scan_id = $1 ${since === undefined ? '' : `and changed_at >= ${integer(since)}`}
       group by record_id) seen`,
    [scanId],
  )
  return {
    ids: Number(row.n),
    inLastPass: Number(row.in_last),
    counted: moments.map((_, index) => Number(row[`n${index}`])),
  }
}

/** Writes down when the passes of a scan began, in place of what was written before: a moment may have been voided. */
export async function savePasses(
  engine: Engine,
  scanId: string,
  rows: readonly ScanPassRow[],
): Promise<void> {
  await ledger(engine).deleteFrom('ops.scan_pass').where('scan_id', '=', scanId).execute()
  if (rows.length > 0) await ledger(engine).insertInto('ops.scan_pass').values(rows).execute()
}

export function readPasses(engine: Engine, scanId: string): Promise<ScanPassRow[]> {
  return ledger(engine)
    .selectFrom('ops.scan_pass')
    .selectAll()
    .where('scan_id', '=', scanId)
    .orderBy('pass')
    .execute()
}

/** Forgets the ids of a scan that only passes before this one have seen. */
export async function keepSeenSince(engine: Engine, scanId: string, pass: number): Promise<void> {
  await engine.run(
    `delete from ops.scan_id where scan_id = $1 and record_id in (
       select record_id from ops.scan_id where scan_id = $1 group by record_id having max(last_pass) < ${integer(pass)})`,
    [scanId],
  )
}

/** Of a scan that is decided. */
export async function forgetSeen(engine: Engine, scanId: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.scan_id').where('scan_id', '=', scanId).execute()
  await ledger(engine).deleteFrom('ops.scan_pass').where('scan_id', '=', scanId).execute()
}

/** The scans of a sweep, for `in`: `$1` is the sweep. */
const ofSweep = '(select scan_id from ops.scan where sweep_id = $1)'

/** Distinct ids that a sweep has seen in all of its windows, which share days. */
export const countSweptIds = (engine: Engine, sweepId: string): Promise<number> =>
  numberOf(engine, `select count(distinct record_id) as n from ops.scan_id where scan_id in ${ofSweep}`, [
    sweepId,
  ])

export async function forgetSweptIds(engine: Engine, sweepId: string): Promise<void> {
  await engine.run(`delete from ops.scan_id where scan_id in ${ofSweep}`, [sweepId])
  await engine.run(`delete from ops.scan_pass where scan_id in ${ofSweep}`, [sweepId])
}
