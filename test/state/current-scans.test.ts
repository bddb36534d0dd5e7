/** The windows that count in the proof of a resource: the latest of each range, and refused ones until they are read again. */
import { describe, expect, test } from 'vitest'
import { currentScans, proofOf } from '../../src/state/scans/proof.ts'
import type { ScanRow } from '../../src/state/scans/tables.ts'

let number = 0

function scanOf(parts: Partial<ScanRow>): ScanRow {
  number += 1
  return {
    scan_id: `s${number}`,
    resource: 'invoices',
    kind: 'backfill',
    sweep_id: null,
    from_day: null,
    to_day: null,
    scope: null,
    state: 'accepted',
    attempt: 1,
    pass: 1,
    page_size: 200,
    next_page: 0,
    loaded_sequence: 1,
    pages: 1,
    first_total: 10,
    last_total: 10,
    expected_ids: 10,
    distinct_ids: 10,
    service_started_at: null,
    service_accepted_at: null,
    first_watermark: null,
    run_id: 'r',
    started_at: '2026-01-01T00:00:00.000Z',
    accepted_at: null,
    ...parts,
  }
}

const january = { from_day: '2026-01-01', to_day: '2026-01-31' }

describe('currentScans', () => {
  test('a refused window counts until a later one has read all of its days', () => {
    const refused = scanOf({ ...january, state: 'refused' })
    const part = scanOf({ from_day: '2026-01-10', to_day: '2026-01-20' })
    const whole = scanOf({ from_day: '2025-12-30', to_day: '2026-01-31' })
    expect(currentScans([refused, part])).toEqual([refused, part])
    expect(currentScans([refused, part, whole])).toEqual([part, whole])
    expect(currentScans([whole, refused])).toEqual([whole, refused])
    expect(currentScans([refused, scanOf({})])).toHaveLength(1)
  })

  test('of incremental scans, and of snapshots of one scope, the last counts', () => {
    const incremental = [scanOf({ kind: 'incremental', state: 'refused' }), scanOf({ kind: 'incremental' })]
    const july = scanOf({ kind: 'snapshot', scope: 'c1 since 2026-07-01', state: 'refused' })
    const august = scanOf({ kind: 'snapshot', scope: 'c1 since 2026-08-01' })
    const other = scanOf({ kind: 'snapshot', scope: 'c1 before 2026-08-01' })
    expect(currentScans([...incremental, july, august, other])).toEqual([incremental[1], august, other])
  })
})

test('the proof adds up complete scans; incremental ones end at the first known page', () => {
  const windows = [
    scanOf({ ...january, pages: 3, attempt: 2 }),
    scanOf({ kind: 'incremental', from_day: '2026-02-01', distinct_ids: 4, expected_ids: 90 }),
    scanOf({ from_day: '2026-02-01', state: 'scanning', distinct_ids: 5, expected_ids: 20 }),
  ]
  expect(proofOf(windows)).toEqual({
    accepted: 2,
    scanning: 1,
    refused: 0,
    distinctIds: 15,
    expectedIds: 30,
    pages: 5,
    attempts: 2,
  })
})
