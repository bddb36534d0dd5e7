/** Which windows count as the proof of a resource: the latest of each place, and refused ones until they are read again. */
import { describe, expect, test } from 'vitest'
import { currentWindows, proofOf } from '../../src/state/scans/proof.ts'
import type { WindowTable } from '../../src/state/scans/tables.ts'

let number = 0

function windowOf(parts: Partial<WindowTable>): WindowTable {
  number += 1
  return {
    window_id: `w${number}`,
    resource: 'invoices',
    kind: 'backfill',
    from_day: null,
    to_day: null,
    scope: null,
    state: 'accepted',
    attempt: 1,
    next_page: 0,
    loaded_sequence: 1,
    pages: 1,
    greatest_total: 10,
    distinct_ids: 10,
    first_mark: null,
    run_id: 'r',
    started_at: '2026-01-01T00:00:00.000Z',
    accepted_at: null,
    ...parts,
  }
}

const january = { from_day: '2026-01-01', to_day: '2026-01-31' }

describe('currentWindows', () => {
  test('a window refused counts until a later one has read all its days', () => {
    const refused = windowOf({ ...january, state: 'refused' })
    const part = windowOf({ from_day: '2026-01-10', to_day: '2026-01-20' })
    const whole = windowOf({ from_day: '2025-12-30', to_day: '2026-01-31' })
    expect(currentWindows([refused, part])).toEqual([refused, part])
    expect(currentWindows([refused, part, whole])).toEqual([part, whole])
    expect(currentWindows([whole, refused])).toEqual([whole, refused])
    expect(currentWindows([refused, windowOf({})])).toHaveLength(1)
  })

  test('of walks over changes, and of readings of one scope, the last counts', () => {
    const walks = [windowOf({ kind: 'incremental', state: 'refused' }), windowOf({ kind: 'incremental' })]
    const july = windowOf({ kind: 'snapshot', scope: 'c1 since 2026-07-01', state: 'refused' })
    const august = windowOf({ kind: 'snapshot', scope: 'c1 since 2026-08-01' })
    const other = windowOf({ kind: 'snapshot', scope: 'c1 before 2026-08-01' })
    expect(currentWindows([...walks, july, august, other])).toEqual([walks[1], august, other])
  })
})

test('the proof adds up whole walks; those over changes end where they meet what is known', () => {
  const windows = [
    windowOf({ ...january, pages: 3, attempt: 2 }),
    windowOf({ kind: 'incremental', from_day: '2026-02-01', distinct_ids: 4, greatest_total: 90 }),
    windowOf({ from_day: '2026-02-01', state: 'walking', distinct_ids: 5, greatest_total: 20 }),
  ]
  expect(proofOf(windows)).toEqual({
    accepted: 2,
    walking: 1,
    refused: 0,
    distinctIds: 15,
    greatestTotal: 30,
    pages: 5,
    attempts: 2,
  })
})
