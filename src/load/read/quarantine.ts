/** Turns records that could not be loaded into quarantine rows: the reason, and the record as received. */
import { createHash } from 'node:crypto'
import { pageName } from '../../lib/stored-page.ts'
import type { QuarantineRow } from '../../state/evidence/tables.ts'
import { idIn } from '../page/stand-ins.ts'
import type { PageTrouble } from './page-repair.ts'

/** Gives the same id to the same value of the same record, however often it is read. */
const idOf = (row: Pick<QuarantineRow, 'resource' | 'record_id' | 'payload' | 'path' | 'text' | 'reason'>) =>
  createHash('md5')
    .update(JSON.stringify([row.resource, row.record_id ?? row.payload, row.path, row.text, row.reason]))
    .digest('hex')

/** The quarantine rows of a record that was left out of its batch. */
export function leftOutRows(resource: string, { page, payload, faults }: PageTrouble): QuarantineRow[] {
  return faults.map(({ path, text, reason }): QuarantineRow => {
    const row = { resource, record_id: idIn(payload) ?? null, path, text, reason, payload }
    return {
      ...row,
      // When the whole record is at fault, each version counts.
      quarantine_id: path === '' ? createHash('md5').update(payload).digest('hex') : idOf(row),
      page: pageName(page),
      run_id: page.runId,
      seen_at: page.fetchedAt,
      resolved_at: null,
    }
  })
}
