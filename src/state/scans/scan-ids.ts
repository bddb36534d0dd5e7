/** Stores what undecided scans have seen: their ids and pass starts. */
import type { Engine } from '../../warehouse/engine.ts'
import { chunks, ledger, numberOf, onlyRow } from '../ledger.ts'
import type { ScanIdRow, ScanPassRow } from './tables.ts'

/** A scan that counts the ids on its pages. */
export interface CountingScan {
  readonly scanId: string
  /** The list is filtered by updatedAt: a record may have existed long before it entered the list. */
  readonly isFiltered: boolean
}

/** Adds the ids on the pages of a batch. Runs inside a merge, while the temporary table stage_seen exists. */
export async function addStagedIds(engine: Engine, { scanId, isFiltered }: CountingScan): Promise<void> {
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

/** When a pass started; see sync/paging/proof.ts. */
export interface PassStartTime {
  readonly pass: number
  /** Milliseconds since the epoch. */
  readonly before: number | null
}

export interface IdCountsQuery {
  readonly scanId: string
  readonly passStarts: readonly PassStartTime[]
  /** Only records changed since, in milliseconds since the epoch. */
  readonly since?: number
}

export interface ScanIdCounts {
  /** Distinct ids that the scan has seen. */
  readonly ids: number
  /** How many of these its last pass has seen. */
  readonly inLastPass: number
  /** For each pass start, the ids that count for it: `counts` of sync/paging/proof.ts as SQL. */
  readonly counted: readonly number[]
}

const integer = (value: number): string => String(Math.trunc(value))

function countedFor({ pass, before }: PassStartTime, index: number): string {
  const existed = before === null ? 'false' : `coalesce(existed_at <= ${integer(before)}, false)`
  return `count(case when last_pass >= ${pass} and (first_pass < ${pass} or is_front_${index} = 1 or ${existed}) then 1 end) as n${index}`
}

export async function countIds(
  engine: Engine,
  { scanId, passStarts, since }: IdCountsQuery,
): Promise<ScanIdCounts> {
  const last = Math.max(0, ...passStarts.map(({ pass }) => pass))
  const fronts = passStarts.map(
    ({ pass }, index) => `, max(case when front_pass = ${pass} then 1 else 0 end) as is_front_${index}`,
  )
  const counts = passStarts.map((passStart, index) => `, ${countedFor(passStart, index)}`)
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
    counted: passStarts.map((_, index) => Number(row[`n${index}`])),
  }
}

/** Replaces the stored pass starts of a scan, as some may have become void. */
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

/** Deletes the ids of a scan last seen before this pass. */
export async function keepSeenSince(engine: Engine, scanId: string, pass: number): Promise<void> {
  await engine.run(
    `delete from ops.scan_id where scan_id = $1 and record_id in (
       select record_id from ops.scan_id where scan_id = $1 group by record_id having max(last_pass) < ${integer(pass)})`,
    [scanId],
  )
}

/** Deletes ids and pass starts of a decided scan. */
export async function forgetSeen(engine: Engine, scanId: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.scan_id').where('scan_id', '=', scanId).execute()
  await ledger(engine).deleteFrom('ops.scan_pass').where('scan_id', '=', scanId).execute()
}

/** The scans of sweep `$1`, for `in`. */
const ofSweep = '(select scan_id from ops.scan where sweep_id = $1)'

/** Distinct ids that a sweep has seen; its windows overlap. */
export const countSweptIds = (engine: Engine, sweepId: string): Promise<number> =>
  numberOf(engine, `select count(distinct record_id) as n from ops.scan_id where scan_id in ${ofSweep}`, [
    sweepId,
  ])

export async function forgetSweptIds(engine: Engine, sweepId: string): Promise<void> {
  await engine.run(`delete from ops.scan_id where scan_id in ${ofSweep}`, [sweepId])
  await engine.run(`delete from ops.scan_pass where scan_id in ${ofSweep}`, [sweepId])
}
