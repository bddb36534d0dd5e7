/** The ids that scans have seen, until the scans are decided. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { ScanIdRow } from './tables.ts'

/** Inside a merge, when the temporary table stage_seen exists: the ids on the pages of its batch, each once in a scan. */
export async function addStagedIds(engine: Engine, scanId: string): Promise<void> {
  await engine.run(
    `insert into ops.scan_id (scan_id, record_id) select $1, seen.id from stage_seen seen
     where not exists (select 1 from ops.scan_id s where s.scan_id = $1 and s.record_id = seen.id)`,
    [scanId],
  )
}

/** Of a scan whose ids come from the stage. */
export async function countIds(engine: Engine, scanId: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>('select count(*) as n from ops.scan_id where scan_id = $1', [
    scanId,
  ])
  return Number(row?.n ?? 0)
}

/** In a sweep an id stands once for each page that had it: a row that moved is on two pages. */
export async function addIds(engine: Engine, rows: readonly ScanIdRow[]): Promise<void> {
  const many = 1000
  for (let from = 0; from < rows.length; from += many)
    await ledger(engine)
      .insertInto('ops.scan_id')
      .values(rows.slice(from, from + many))
      .execute()
}

export async function countDistinctIds(engine: Engine, scanId: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    'select count(distinct record_id) as n from ops.scan_id where scan_id = $1',
    [scanId],
  )
  return Number(row?.n ?? 0)
}

export async function forgetIds(engine: Engine, scanId: string): Promise<void> {
  await ledger(engine).deleteFrom('ops.scan_id').where('scan_id', '=', scanId).execute()
}

/** The scans of a sweep, for `in`: `$1` is the sweep. */
const ofSweep = '(select scan_id from ops.scan where sweep_id = $1)'

/** Distinct ids that a sweep has seen in all of its windows, which share days. */
export async function countSweptIds(engine: Engine, sweepId: string): Promise<number> {
  const [row] = await engine.rows<{ n: number }>(
    `select count(distinct record_id) as n from ops.scan_id where scan_id in ${ofSweep}`,
    [sweepId],
  )
  return Number(row?.n ?? 0)
}

export async function forgetSweptIds(engine: Engine, sweepId: string): Promise<void> {
  await engine.run(`delete from ops.scan_id where scan_id in ${ofSweep}`, [sweepId])
}
