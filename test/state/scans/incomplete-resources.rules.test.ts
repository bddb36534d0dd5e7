/** What each reason of `sql/part/incomplete_resource.sql` counts, and what it leaves to other rows of the ledger. */
import { expect, test } from 'vitest'
import { incompleteResources } from '../../../src/state/scans/completeness.ts'
import {
  discovered,
  hour,
  ledgerBench,
  quarantined,
  run,
  runResource,
  scan,
  sweep,
} from '../../support/ledger-bench.ts'

const bench = ledgerBench()

type Fields = Readonly<Record<string, unknown>>

const ran = (id: string, at: number, parts: Fields = {}) =>
  bench.insert('ops.run', run(id, { started_at: hour(at), finished_at: hour(at), ...parts }))
const worked = (id: string, parts: Fields = {}) => bench.insert('ops.run_resource', runResource(id, parts))

const watermark = (resource: string, backfilled: string | null = hour(0)) =>
  bench.insert('ops.watermark', {
    ...{ resource, backfilled_at: backfilled, remembered_total: 0, run_id: 'run', moved_at: hour(0) },
  })

const reasons = async (): Promise<string[]> =>
  ((await incompleteResources(bench.engine)) ?? [])
    .filter(({ resource }) => resource === 'expenses')
    .map(({ reason }) => reason)

test('a list that a sync did not reach is not made up for by a backfill of it', async () => {
  await ran('failed', 5, { state: 'failed' })
  expect(await reasons()).toEqual(['not reached before the last sync ended'])
  await ran('filled', 6, { command: 'backfill', arguments: 'expenses' })
  await worked('filled')
  expect(await reasons()).toEqual(['not reached before the last sync ended'])
  await ran('synced', 7)
  await worked('synced')
  expect(await reasons()).toEqual([])
})

test('a list that was never read completely has what its own windows saw, scans of changes and days asked for aside', async () => {
  await watermark('expenses', null)
  const figures = { distinct_ids: 3, expected_ids: 5 }
  await bench.insert(
    'ops.scan',
    scan('window', { state: 'accepted', ...figures }),
    scan('changes', { state: 'accepted', kind: 'incremental', ...figures }),
    scan('days', { state: 'accepted', scope: 'asked for', ...figures }),
  )
  expect(await reasons()).toEqual(['never read completely: saw 3 of 5'])
})

test('windows that were refused are counted, scans of changes and days asked for aside', async () => {
  await watermark('expenses', null)
  const refused = { state: 'refused' } as const
  await bench.insert(
    'ops.scan',
    scan('one', { ...refused, to_day: '2026-01-01' }),
    scan('days', { ...refused, scope: 'asked for', from_day: '2026-01-01', to_day: '2026-01-02' }),
    scan('changes', { ...refused, kind: 'incremental' }),
  )
  expect(await reasons()).toContain('never read completely, a window was refused')
  await bench.insert('ops.scan', scan('two', { ...refused, from_day: '2026-01-01' }))
  expect(await reasons()).toContain('never read completely, 2 windows were refused')
})

test('of scans of changes the last one tells whether its end was reached', async () => {
  await watermark('expenses')
  await ran('stopped', 4)
  await worked('stopped', { state: 'stopped' })
  const changes = { kind: 'incremental', state: 'scanning' } as const
  await bench.insert('ops.scan', scan('first', { ...changes, started_at: hour(1) }))
  expect(await reasons()).toEqual(['the last scan of changes did not reach its end'])
  await bench.insert('ops.scan', scan('last', { ...changes, state: 'accepted', started_at: hour(2) }))
  expect(await reasons()).toEqual([])
})

test.each([
  ['2026-01-05', '2026-01-09', '2026-01-05 to 2026-01-09'],
  [null, '2026-01-09', 'the first to 2026-01-09'],
  ['2026-01-05', null, '2026-01-05 to today'],
] as const)('days that were read again and refused are named: from %s to %s', async (from, to, named) => {
  await watermark('expenses')
  await bench.insert(
    'ops.scan',
    scan('days', { state: 'refused', scope: 'asked for', from_day: from, to_day: to }),
  )
  expect(await reasons()).toEqual([`days read again were refused, ${named}`])
})

const days = { from_day: '2026-01-05', to_day: '2026-01-09' }
const again = { ...days, scope: 'asked for', state: 'accepted', started_at: hour(3) } as const

test.each([
  ['a later scan of these days', again, true],
  ['a later scan of more days', { ...again, from_day: null, to_day: null }, true],
  ['a later scan of the list', { ...again, scope: null }, true],
  ['an earlier scan', { ...again, started_at: hour(1) }, false],
  ['a later scan that was refused too', { ...again, state: 'refused', from_day: '2026-01-06' }, false],
  ['a later scan of changes', { ...again, kind: 'incremental', scope: null }, false],
  ['a later scan of another list', { ...again, resource: 'sites' }, false],
  ['a later scan that begins after them', { ...again, from_day: '2026-01-06' }, false],
  ['a later scan that ends before them', { ...again, to_day: '2026-01-08' }, false],
] as const)('days that were refused are made up for by %s', async (_, parts, is) => {
  await watermark('expenses')
  await watermark('sites')
  await bench.insert(
    'ops.scan',
    scan('days', { ...days, scope: 'asked for', state: 'refused', started_at: hour(2) }),
    scan('later', parts),
  )
  expect((await reasons()).includes('days read again were refused, 2026-01-05 to 2026-01-09')).toBe(!is)
})

test.each([
  ['a later sweep', {}, true],
  ['an earlier sweep', { started_at: hour(1) }, false],
  ['a later sweep that was not accepted', { state: 'sweeping' }, false],
  ['a later sweep of another list', { resource: 'sites' }, false],
] as const)('days that were refused are made up for by %s', async (_, parts, is) => {
  await watermark('expenses')
  await bench.insert(
    'ops.scan',
    scan('days', { ...days, scope: 'asked for', state: 'refused', started_at: hour(2) }),
  )
  await bench.insert('ops.sweep', sweep('later', { started_at: hour(3), ...parts }))
  expect((await reasons()).length).toBe(is ? 0 : 1)
})

test('of sweeps the last one that ended tells', async () => {
  await bench.insert(
    'ops.sweep',
    sweep('believed', { state: 'accepted', started_at: hour(3) }),
    sweep('not believed', { state: 'implausible', started_at: hour(2), judged: 9, missing: 9 }),
    sweep('at work', { state: 'sweeping', started_at: hour(4) }),
  )
  expect(await reasons()).toEqual([])
})

const inQuarantine = (ids: readonly string[], parts: Parameters<typeof quarantined>[1] = {}) =>
  bench.insert('ops.quarantine', ...ids.map(id => quarantined(id, parts)))
const ids = (many: number): string[] => Array.from({ length: many }, (_, index) => `e${index}`)
const tooMany = (records: number, tolerated: number): string =>
  `${records} records are in quarantine, ${tolerated} are tolerable`

test('a record that is in quarantine twice counts once', async () => {
  await inQuarantine(ids(20))
  await inQuarantine(['again'], { record_id: 'e0' })
  expect(await reasons()).toEqual([])
  await inQuarantine(['e20'])
  expect(await reasons()).toEqual([tooMany(21, 20)])
})

test('a share of what a run read is tolerable, and of what was ever read at once', async () => {
  await ran('run-1', 3, { quarantine_records: 2, quarantine_percent: 100 })
  await worked('run-1', { records_read: 4 })
  await inQuarantine(ids(4))
  expect(await reasons()).toEqual([])
  await ran('run-2', 4, { quarantine_records: 2, quarantine_percent: 100 })
  await worked('run-2', { records_read: 3 })
  await inQuarantine(['f0', 'f1', 'f2', 'f3'], { run_id: 'run-2' })
  expect(await reasons()).toEqual([tooMany(8, 3)])
})

test('what a run that did not read the list put into quarantine is compared with the limit alone', async () => {
  await ran('run-1', 3, { quarantine_records: 20, quarantine_percent: 100 })
  await worked('run-1', { records_read: 100 })
  await inQuarantine(ids(21), { run_id: 'unknown' })
  expect(await reasons()).toEqual([tooMany(21, 20)])
})

test('what several runs put into quarantine is added up, of a list that no run has read too', async () => {
  await inQuarantine(ids(15), { run_id: 'unknown' })
  await inQuarantine(['f0', 'f1', 'f2', 'f3', 'f4', 'f5'], { run_id: 'another' })
  expect(await reasons()).toEqual([tooMany(21, 20)])
})

test('records in quarantine of a list that no run has read count too', async () => {
  await inQuarantine(ids(21), { run_id: 'unknown' })
  expect(await reasons()).toEqual([tooMany(21, 20)])
})

test.each([
  [201, 201, []],
  [202, 201, [tooMany(202, 201)]],
])(
  'of %i records in quarantine of %i that were read, one more than the limit is a share',
  async (many, read, said) => {
    await ran('run-1', 3, { quarantine_records: 200, quarantine_percent: 100 })
    await worked('run-1', { records_read: read })
    await inQuarantine(ids(many))
    expect(await reasons()).toEqual(said)
  },
)

test('records that were refused from the beginning, or in no scope, are not counted', async () => {
  await ran('run-1', 3, { quarantine_records: 0, quarantine_percent: 0 })
  const refused = { state: 'refused' }
  await bench.insert(
    'ops.discovered',
    discovered('never', { ...refused, last_fetched_at: null }),
    discovered('in no scope', { ...refused, key_scope: null }),
  )
  expect(await reasons()).toEqual([])
  await bench.insert('ops.discovered', discovered('once', refused))
  expect(await reasons()).toEqual(['1 stored records are refused now, 0 are tolerable'])
})

test.each([
  [1, ['2 stored records are refused now, 1 are tolerable']],
  [200, []],
])('beside %i records that are stored, two that are refused: %j', async (stored, said) => {
  await ran('run-1', 3, { quarantine_records: 1, quarantine_percent: 1 })
  const refused = ['r1', 'r2'].map(id => discovered(id, { state: 'refused' }))
  await bench.insert('ops.discovered', ...refused, ...ids(stored).map(id => discovered(id)))
  expect(await reasons()).toEqual(said)
})

const drift = { resource: 'expenses', path: 'new', kind: 'unknown field' }

test.each([
  ['it', {}, []],
  ['the same of another list', { resource: 'sites' }, ['1']],
  ['the same in another place', { path: 'other' }, ['1']],
  ['another difference in its place', { kind: 'rounded' }, ['1']],
])('a difference of a frozen schema stays until %s is accepted', async (_, parts, left) => {
  await ran('run-1', 3, { quarantine_records: 20, quarantine_percent: 1, frozen: 'sites expenses' })
  await bench.insert('ops.schema_drift', { ...drift, example_type: null, run_id: 'run-1', seen_at: hour(1) })
  await bench.insert('ops.accepted_drift', { ...drift, accepted_at: hour(2), ...parts })
  expect(await reasons()).toEqual(
    left.map(count => `differences of its frozen schema that muster drift lists: ${count}`),
  )
})
