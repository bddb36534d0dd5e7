/** Retention removes what is older than its settings, class by class; what is younger, or not settled, stays. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { archive } from '../../src/landing/archive.ts'
import { type Landing, openLanding } from '../../src/landing/landing.ts'
import { verify } from '../../src/landing/verify.ts'
import { dayMs } from '../../src/lib/dates.ts'
import { applyRetention } from '../../src/privacy/retention.ts'
import { ledger } from '../../src/state/ledger.ts'
import { landingLease, releaseLease, takeLease } from '../../src/state/runs/leases.ts'
import { recordRun, startRun } from '../../src/state/runs/runs.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { commandsOn } from '../support/command-lines.ts'
import { openPlace } from '../support/synced-warehouse.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'

const now = Date.parse('2026-11-22T00:00:00.000Z')
/** An event of each state. Of those that are stored only, the body has what a service wrote. */
async function receive(engine: Engine, id: string, at: string): Promise<void> {
  for (const state of ['new', 'signalled', 'done', 'unknown', 'unreadable', 'test'] as const) {
    const isStoredOnly = !['new', 'signalled', 'done'].includes(state)
    await ledger(engine)
      .insertInto('ops.inbox')
      .values({
        event_id: `${id} ${state}`,
        type: 'x',
        entity: null,
        record_id: null,
        created_at: at,
        received_at: at,
        deliveries: 1,
        state,
        payload: isStoredOnly ? '{"name":"Ada"}' : null,
        drained_by: state === 'new' ? null : 'd',
        drained_at: state === 'new' ? null : at,
        result: null,
        settled_at: state === 'done' ? at : null,
      })
      .execute()
  }
}

/** A resolved value and an open one. */
async function quarantine(engine: Engine, id: string, at: string): Promise<void> {
  const common = {
    ...{ resource: 'users', record_id: id, path: 'x', reason: 'no number' },
    ...{ text: null, payload: '{}', page: 'p', run_id: 'r', seen_at: at },
  }
  for (const [end, resolved_at] of [
    ['resolved', at],
    ['open', null],
  ] as const)
    await ledger(engine)
      .insertInto('ops.quarantine')
      .values({ ...common, quarantine_id: `${id} ${end}`, resolved_at })
      .execute()
}

/** A scan with one page, which was fetched then. */
async function putArchive(landing: Landing, scan: string, fetchedAt: string): Promise<void> {
  await landing.begin(scan, { resource: 'sites', scope: {} })
  const bytes = Buffer.from('{"data":[]}')
  await landing.land(scan, { sequence: 1, page: 1, fetchedAt, runId: 'r', bytes })
  await landing.complete([scan])
  await archive(landing, [scan])
}

const withoutHistory = { landing: 90, inbox: 90, quarantine: 90 }
const [old, young] = ['2026-01-01T00:00:00.000Z', '2026-11-20T00:00:00.000Z']

describeOnEngines(
  'retention',
  bench => {
    test('removes what is too old', async () => {
      const { engine, landing } = await bench.warehouse()
      for (const [id, at] of [
        ['a', old],
        ['b', young],
      ] as const) {
        await putArchive(openLanding(landing), id, at)
        await engine.run(
          `insert into pii.worker_history (worker_id, name, valid_to) values ($1, 'Ada', $2)`,
          [id, at],
        )
        await quarantine(engine, id, at)
        await receive(engine, id, at)
      }
      const place = { engine, landing: openLanding(landing), now, holder: 'retention-1' }
      const onRows = vi.fn(async () => undefined)
      const keep = { landing: 90, piiHistory: 90, inbox: 90, quarantine: 90 }
      const removed = await applyRetention(place, keep, onRows)
      expect(removed).toEqual({ landing: 1, piiHistory: 1, inbox: 4, quarantine: 1 })
      expect(readdirSync(join(landing, 'archives'))).toEqual(['b'])
      expect(await engine.rows('select worker_id from pii.worker_history')).toEqual([{ worker_id: 'b' }])
      const events = await engine.rows<{ id: string }>('select event_id as id from ops.inbox order by 1')
      expect(events.map(({ id }) => id)).toEqual([
        'a new',
        'a signalled',
        'b done',
        'b new',
        'b signalled',
        'b test',
        'b unknown',
        'b unreadable',
      ])
      const left = await engine.rows('select quarantine_id as id from ops.quarantine order by 1')
      expect(left).toEqual([{ id: 'a open' }, { id: 'b open' }, { id: 'b resolved' }])
      const again = await applyRetention(place, withoutHistory, onRows)
      expect(again, 'again, without a limit for personal data').toMatchObject({ piiHistory: 0 })
      expect(onRows, 'only the first removes rows').toHaveBeenCalledTimes(1)
    })
  },
  'all',
)

/** The id of a run that began then. */
const runOf = (instant: string, letters: string): string => `${instant.replace(/[-:.]/g, '')}-${letters}`

/** A scan of one run, a page at each of these times. */
async function landScan(
  landing: Landing,
  [at, letter]: readonly [string, string],
  pages: readonly string[],
): Promise<string> {
  const scan = `${runOf(at, letter)}.sites`
  await landing.begin(scan, { resource: 'sites', scope: {} })
  for (const [index, page] of pages.entries())
    await landing.land(scan, {
      sequence: index + 1,
      page: index + 1,
      fetchedAt: page,
      runId: runOf(at, letter),
      bytes: Buffer.from('{"data":[{"name":"Ada"}]}'),
    })
  return scan
}

/** The scan of a run of that time is still under way. */
async function keepScanning(engine: Engine, scan: string, at: string): Promise<void> {
  await engine.run(
    `insert into ops.scan (scan_id, resource, kind, state, attempt, next_page, loaded_sequence, pages, first_total, last_total, expected_ids, distinct_ids, run_id, started_at)
     values ($1, 'sites', 'snapshot', 'scanning', 1, 1, 0, 0, 0, 0, 0, 0, 'r', $2)`,
    [scan, at],
  )
}

describeOnEngines(
  'landed pages',
  bench => {
    test('go when all of a scan are too old, unless it is under way or another process reads them', async () => {
      const { engine, landing: root } = await bench.warehouse()
      const landing = openLanding(root)
      const gone = await landScan(landing, [old, 'aaaa'], [old, old])
      const grown = await landScan(landing, [old, 'bbbb'], [old, young])
      const open = await landScan(landing, [old, 'cccc'], [old])
      const running = await landScan(landing, [old, 'dddd'], [old])
      const recent = await landScan(landing, [young, 'eeee'], [young])
      await keepScanning(engine, open, old)
      const started = { command: 'sync', arguments: '', startedAt: old, version: '0' }
      await startRun(engine, { runId: runOf(old, 'dddd'), ...started })
      const place = { engine, landing, now, holder: 'retention-1' }

      const reader = { resource: landingLease, holder: 'reader', ms: 60_000 }
      await engine.announce('reader')
      const lease = await takeLease(engine, reader)
      const whileRead = await applyRetention(place, withoutHistory, async () => {})
      expect(whileRead.landing, 'removed while another process reads').toBe(0)

      await releaseLease(engine, lease)
      const afterwards = await applyRetention(place, withoutHistory, async () => {})
      expect(afterwards.landing, 'removed afterwards').toBe(1)
      expect(await landing.scans(), 'the scans that stay').toEqual([grown, open, running, recent].sort())
      // A scan that retention removed is no damage.
      expect(await landing.scans()).not.toContain(gone)
      expect(await verify(landing, now, new Set([open])), 'damage').toEqual([])
    })
  },
  'all',
)

/** The files of a warehouse in that folder in whose bytes the text is found. */
const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder)
    .filter(file => file.startsWith('w.duckdb'))
    .filter(file => readFileSync(join(folder, file)).includes(text))

test('rows of a retention that was killed before it rewrote the file are gone after the next one', async () => {
  const [place, name] = [await openPlace(), 'Wilhelmina Featherstonehaugh']
  expect((await place.command('sync --quiet')).code).toBe(0)
  const engine = await openDuckdb(place.file)
  await engine.run(
    `insert into pii.worker_history (worker_id, name, valid_to) select 'w' || i, $1 || i, $2 from range(20000) r(i)`,
    [name, old],
  )
  // As it is, so that it can be found in the bytes of the file, and before other blocks: at its end the file would become shorter.
  await engine.run(`set disabled_compression_methods = 'dict_fsst,fsst,zstd'`)
  await engine.run('checkpoint')
  await engine.run('create table main.behind as select random() as value from range(100000)')
  await engine.run('checkpoint')
  const landing = openLanding(join(place.cwd, 'w.landing'))
  const at = Date.parse('2026-11-02T03:00:00.000Z')
  const keep = { landing: 90, piiHistory: 90, inbox: 90, quarantine: 90 }
  await applyRetention({ engine, landing, now: at, holder: 'r' }, keep, engine =>
    recordRun(engine, { runId: 'r', command: 'retention', arguments: '', startedAt: old, version: '0' }),
  )
  await engine.close()
  expect(filesWith(place.cwd, name), 'before the next retention').toEqual(['w.duckdb'])
  expect(await place.command('retention --json')).toMatchObject({ code: 0 })
  expect(filesWith(place.cwd, name), 'after the next retention').toEqual([])
  expect((await place.command('runs')).out).toMatch(/retention\s+done/)
})

/** One row of each class of that many days ago, and a landed scan. */
async function putRowsOf(warehouse: Warehouse, days: number): Promise<void> {
  const at = new Date(Date.now() - days * dayMs).toISOString()
  await putArchive(openLanding(warehouse.landing), String(days), at)
  const { engine } = warehouse
  await engine.run(
    `insert into pii.worker_history (worker_id, name, valid_to) values ('${days}', 'Ada', $1)`,
    [at],
  )
  await engine.run(
    `insert into ops.inbox (event_id, type, created_at, received_at, deliveries, state, payload, settled_at)
     values ('${days}', 'site_updated', $1, $1, 1, 'done', '{}', $1)`,
    [at],
  )
  await engine.run(
    `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at, resolved_at)
     values ('${days}', 'users', 'x', 'x', 'x', '{}', 'p', 'r', $1, $1)`,
    [at],
  )
}

/** What is left in a table, by its key. */
async function keysIn({ engine }: Warehouse, table: string, key: string): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(`select ${key} as id from ${table} order by 1`)
  return rows.map(({ id }) => id)
}

describeOnEngines(
  'the settings of retention',
  bench => {
    test('apply to each class by itself, and status shows them', async () => {
      const warehouse = await bench.warehouse()
      for (const days of [3, 12, 30]) await putRowsOf(warehouse, days)
      const { command, cwd } = await commandsOn(warehouse, { url: 'http://127.0.0.1:9' })
      const settings = [
        'connections:',
        '  default:',
        '    baseUrl: http://127.0.0.1:9',
        '    apiKeyFile: key',
        `    warehouse: ${warehouse.address}`,
        `    landing: ${warehouse.landing}`,
        '    retentionDays: 40',
        '    piiHistoryDays: 20',
        '    inboxDays: 10',
        '    quarantineDays: 2',
      ]
      writeFileSync(join(cwd, 'key'), 'mk_0123456789abcdef', { mode: 0o600 })
      writeFileSync(join(cwd, 'own.yaml'), settings.join('\n'))
      const first = await command('retention --config own.yaml --json')
      expect([first.code, JSON.parse(first.out)]).toMatchObject([
        0,
        {
          removed: { landing: 0, piiHistory: 1, inbox: 2, quarantine: 3 },
          days: { landing: 40, piiHistory: 20, inbox: 10, quarantine: 2 },
        },
      ])
      writeFileSync(
        join(cwd, 'own.yaml'),
        settings.join('\n').replace('retentionDays: 40', 'retentionDays: 7'),
      )
      expect((await command('retention --config own.yaml')).out).toBe(
        [
          '2 landed scans removed, kept for 7 days',
          '0 superseded versions removed, kept for 20 days',
          '0 events removed, kept for 10 days',
          '0 quarantined values removed, kept for 2 days',
          '',
        ].join('\n'),
      )
      expect((await command('doctor --config own.yaml')).out.replace(/\s+/g, ' ')).toContain(
        'retention landed pages 7 days; superseded personal data 20 days; settled events 10 days; resolved quarantine 2 days',
      )
      expect((await command('status --config own.yaml')).out).toMatch(
        /retention: landed pages 7 days; superseded personal data 20 days; settled events 10 days; resolved quarantine 2 days/,
      )
      expect(readdirSync(join(warehouse.landing, 'archives'))).toEqual(['3'])
      await warehouse.open()
      expect(await keysIn(warehouse, 'pii.worker_history', 'worker_id')).toEqual(['12', '3'])
      expect(await keysIn(warehouse, 'ops.inbox', 'event_id')).toEqual(['3'])
      expect(await keysIn(warehouse, 'ops.quarantine', 'quarantine_id')).toEqual([])
    })
  },
  'all',
)
