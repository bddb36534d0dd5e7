/** What an accepted scan moves: the watermark of a backfill, of changes, and of days that are read again. */
import { describe, expect, test } from 'vitest'
import type { Scan } from '../../../src/contract/fields/resource.ts'
import type { ScanRow, WatermarkRow } from '../../../src/state/scans/tables.ts'
import { completedBackfill, moveWatermarkBy } from '../../../src/sync/scan/scan-end.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { readings, time } from './reading.ts'

describe('the watermark of a backfill', () => {
  const end = { watermark: time('06-01', 5), total: 25, digests: null }
  const window = (
    scan_id: string,
    from_day: string | null,
    state: 'accepted' | 'refused' | 'scanning' = 'accepted',
  ) => ({ scan_id, from_day, state, run_id: 'run' }) as const
  const [newest, oldest] = [window('a', '2025-01-01'), window('b', null)]
  const completed = (
    one: typeof oldest | typeof newest,
    windows: readonly ReturnType<typeof window>[],
    pending: string | null = time('06-01', 1),
  ) => completedBackfill({ window: one, windows, pending, end })

  test('is the one from before its first window', () => {
    expect(completed(oldest, [newest, oldest])).toEqual({
      watermark: time('06-01', 1),
      pending_watermark: null,
    })
  })

  test('is that of the only window where there was none, as is the total', () => {
    expect(completed(oldest, [oldest], null)).toEqual({
      watermark: time('06-01', 5),
      pending_watermark: null,
      remembered_total: 25,
    })
  })

  test.each([
    [
      'when the last open window is a newer one',
      newest,
      [window('a', '2025-01-01', 'scanning'), oldest],
      true,
    ],
    ['though its own row is not accepted yet', oldest, [newest, window('b', null, 'scanning')], true],
    ['not while another window is open', oldest, [window('a', '2025-01-01', 'scanning'), oldest], false],
    ['not after another window was refused', oldest, [window('a', '2025-01-01', 'refused'), oldest], false],
    ['not while no window reaches the oldest record', newest, [newest, window('c', '2024-06-01')], false],
  ])('is set %s', (...[, one, windows, isSet]) => expect(completed(one, windows) !== undefined).toBe(isSet))
})

const warehouse = rulesWarehouse()
const begin = readings(warehouse)

describe('an accepted scan', () => {
  const [older, stored, newer] = [time('01-10', 1), time('01-10', 2), time('01-10', 3)]

  async function moved(
    row: Partial<ScanRow>,
    end: { readonly watermark: string | null; readonly digests?: string },
    parts: { readonly before?: Partial<WatermarkRow>; readonly read?: Partial<Scan> } = {},
  ) {
    const { task, setWatermark, watermark, openScan } = await begin(parts.read ? { read: parts.read } : {})
    await setWatermark({ watermark: stored, remembered_total: 3, ...parts.before })
    const opened = await openScan({ scan_id: 's', ...row })
    await moveWatermarkBy(warehouse.engine, task, { row: opened, end: { total: 9, digests: null, ...end } })
    const { watermark: at, remembered_total: total, ...rest } = (await watermark()) as WatermarkRow
    return { at, total: Number(total), digests: rest.same_rows, done: rest.backfilled_at, run: rest.run_id }
  }

  const kept = { at: stored, total: 3, digests: null, done: null, run: 'run-1' }
  const changes = { kind: 'incremental' } as const
  const filtered = { changedSince: { from: 'day' } } as unknown as Partial<Scan>

  test.each([
    ['of changes moves it on', changes, newer, {}, { at: newer, total: 9, digests: 'd', run: 'run-2' }],
    ['of changes never moves it back', changes, older, {}, { total: 9, digests: 'd', run: 'run-2' }],
    ['of changes without a time leaves it', changes, null, {}, { total: 9, digests: 'd', run: 'run-2' }],
    [
      'of changes sets the first one',
      changes,
      older,
      { before: { watermark: null } },
      { at: older, total: 9, digests: 'd', run: 'run-2' },
    ],
    [
      'of changes that the service filters leaves the total',
      changes,
      newer,
      { read: filtered },
      { at: newer, digests: 'd', run: 'run-2' },
    ],
    [
      'of the only window ends the backfill',
      { kind: 'backfill' },
      older,
      {},
      { at: older, total: 9, done: time('06-01'), run: 'run-2' },
    ],
    [
      'of a window that does not reach the oldest record moves nothing',
      { from_day: '2026-01-01' },
      newer,
      {},
      {},
    ],
    ['of days that are read again moves nothing', { scope: 'asked for' }, newer, {}, {}],
  ] as const)('%s', async (...[, row, watermark, parts, change]) => {
    expect(await moved(row, { watermark, digests: 'd' }, parts)).toEqual({ ...kept, ...change })
  })
})
