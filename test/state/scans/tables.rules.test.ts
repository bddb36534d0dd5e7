/** What becomes of the rows of scans elsewhere: in a published copy, in the copy of one company, and after a rebuild. */
import { expect, test } from 'vitest'
import { scanTables } from '../../../src/state/scans/tables.ts'
import { policyOf, wordsOf } from '../policy.ts'

const lasting = { isPublished: false, lifetime: 'lasting' }

test('rows of scans last, and readers of a copy see those of scans and watermarks', () => {
  expect(policyOf(scanTables)).toEqual({
    watermark: {
      ...lasting,
      isPublished: true,
      key: ['resource'],
      shared: ['resource', 'backfilled_at', 'run_id', 'moved_at'],
    },
    scan: {
      ...{ ...lasting, isPublished: true, key: ['scan_id'] },
      shared: [
        ...['scan_id', 'resource', 'kind', 'sweep_id', 'from_day', 'to_day', 'scope', 'state', 'run_id'],
        ...['started_at', 'accepted_at'],
      ],
    },
    scan_pass: { ...lasting, key: ['scan_id', 'pass'] },
    scan_id: { ...lasting, key: [], indexes: [{ name: 'scan_id_idx', columns: ['scan_id', 'record_id'] }] },
    sweep: {
      ...{ ...lasting, key: ['sweep_id'] },
      shared: ['sweep_id', 'resource', 'scope_id', 'state', 'started_at', 'ended_at', 'run_id'],
    },
    unread: { ...lasting, key: ['resource', 'record_id'] },
    list_count: { ...lasting, key: ['resource', 'run_id'] },
  })
})

test('columns of words describe each of them', () => {
  expect(wordsOf(scanTables)).toEqual({
    'watermark.changes_filter': ['honoured', 'ignored'],
    'scan.kind': ['backfill', 'incremental', 'snapshot', 'by id', 'sweep'],
    'scan.state': ['scanning, accepted or refused'],
    'sweep.state': ['sweeping', 'accepted', 'implausible', 'refused'],
  })
})
