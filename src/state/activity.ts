/** What runs have read and committed: it tells whether a warehouse was written to between two moments. */
import type { Engine } from '../warehouse/engine.ts'
import { ledger } from './ledger.ts'

/** Equal for two moments between which no run committed a row, a watermark or a scan. A run that was refused changes nothing. */
export async function activityOf(engine: Engine): Promise<string> {
  const runs = await engine.rows(
    `select run_id, records_read, rows_inserted, rows_changed, rows_removed, quarantined from ops.run
     where records_read + rows_inserted + rows_changed + rows_removed + quarantined > 0 order by run_id`,
  )
  const watermarks = await ledger(engine)
    .selectFrom('ops.watermark')
    .selectAll()
    .orderBy('resource')
    .execute()
  const scans = await ledger(engine).selectFrom('ops.scan').selectAll().orderBy('scan_id').execute()
  return JSON.stringify([runs, watermarks, scans])
}
