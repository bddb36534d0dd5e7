/** What is older than the settings keep it goes, class by class; what is younger, or not settled, stays. */
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLanding } from '../../src/landing/folder.ts'
import { damageOf } from '../../src/landing/kept.ts'
import { dayMs } from '../../src/lib/dates.ts'
import { applyRetention } from '../../src/privacy/retention.ts'
import { ledger } from '../../src/state/ledger.ts'
import { releaseLease, takeLease } from '../../src/state/runs/leases.ts'
import { recordRun, startRun } from '../../src/state/runs/runs.ts'
import { landingLease } from '../../src/state/runs/whole-lease.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { commandsOn } from '../cli/commands-on.ts'
import { openPlace } from '../cli/synced-warehouse.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'

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
        const scan = join(landing, `${id}.archive`)
        mkdirSync(scan, { recursive: true })
        writeFileSync(join(scan, 'scan.json'), '{}')
        utimesSync(scan, new Date(at), new Date(at))
        await engine.run(
          `insert into pii.worker_history (worker_id, name, valid_to) values ($1, 'Ada', $2)`,
          [id, at],
        )
        const common = {
          resource: 'users',
          path: 'x',
          reason: 'no number',
          payload: '{}',
          page: 'p',
          run_id: 'r',
        }
        for (const [end, resolved_at] of [
          ['resolved', at],
          ['open', null],
        ] as const)
          await ledger(engine)
            .insertInto('ops.quarantine')
            .values({
              ...common,
              quarantine_id: `${id} ${end}`,
              record_id: id,
              text: null,
              seen_at: at,
              resolved_at,
            })
            .execute()
        await receive(engine, id, at)
      }
      const place = { engine, landing: openLanding(landing), now, holder: 'retention-1' }
      let rowsWent = 0
      const onRows = async () => {
        rowsWent += 1
      }
      const keep = { landing: 90, piiHistory: 90, inbox: 90, quarantine: 90 }
      const removed = await applyRetention(place, keep, onRows)
      expect(removed).toEqual({ landing: 1, piiHistory: 1, inbox: 4, quarantine: 1 })
      expect(readdirSync(landing).filter(name => name.endsWith('.archive'))).toEqual(['b.archive'])
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
      expect(await applyRetention(place, { landing: 90, inbox: 90, quarantine: 90 }, onRows)).toMatchObject({
        piiHistory: 0,
      })
      expect(rowsWent).toBe(1)
    })
  },
  'all',
)

const fetchedAt = (instant: string): string => instant.replace(/[-:.]/g, '')

describeOnEngines(
  'landed pages',
  bench => {
    test('go when all of a scan are too old, unless it is under way or another process reads them', async () => {
      const { engine, landing: root } = await bench.warehouse()
      const landing = openLanding(root)
      const land = async (at: string, letter: string, pages: readonly string[]) => {
        const scan = `${fetchedAt(at)}-${letter}.sites`
        await landing.begin(scan, { resource: 'sites', scope: {} })
        for (const [index, page] of pages.entries())
          await landing.land(scan, {
            sequence: index + 1,
            page: index + 1,
            fetchedAt: page,
            runId: `${fetchedAt(at)}-${letter}`,
            bytes: Buffer.from('{"data":[{"name":"Ada"}]}'),
          })
        return scan
      }
      const gone = await land(old, 'aaaa', [old, old])
      const grown = await land(old, 'bbbb', [old, young])
      const open = await land(old, 'cccc', [old])
      const running = await land(old, 'dddd', [old])
      const recent = await land(young, 'eeee', [young])
      await engine.run(
        `insert into ops.scan (scan_id, resource, kind, state, attempt, next_page, loaded_sequence, pages, first_total, greatest_total, last_total, expected_ids, distinct_ids, run_id, started_at)
         values ($1, 'sites', 'snapshot', 'scanning', 1, 1, 0, 0, 0, 0, 0, 0, 0, 'r', $2)`,
        [open, old],
      )
      const started = { command: 'sync', arguments: '', startedAt: old, version: '0' }
      await startRun(engine, { runId: `${fetchedAt(old)}-dddd`, ...started })
      const place = { engine, landing, now, holder: 'retention-1' }
      const apply = () => applyRetention(place, { landing: 90, inbox: 90, quarantine: 90 }, async () => {})
      const reader = { resource: landingLease, holder: 'reader', ms: 60_000 }
      await engine.announce('reader')
      const lease = await takeLease(engine, reader)
      expect((await apply()).landing).toBe(0)
      await releaseLease(engine, lease)
      expect((await apply()).landing).toBe(1)
      expect(await landing.scans()).toEqual([grown, open, running, recent].sort())
      // What went on purpose is no damage.
      expect((await damageOf(landing, now, new Set([open]))).map(({ scan }) => scan)).not.toContain(gone)
    })
  },
  'all',
)

test('what a retention was killed before it could write anew is gone from the file after the next one', async () => {
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
  const holds = () =>
    readdirSync(place.cwd)
      .filter(file => file.startsWith('w.duckdb'))
      .filter(file => readFileSync(join(place.cwd, file)).includes(name))
  await applyRetention({ engine, landing, now: at, holder: 'r' }, keep, engine =>
    recordRun(engine, { runId: 'r', command: 'retention', arguments: '', startedAt: old, version: '0' }),
  )
  await engine.close()
  expect(holds()).toEqual(['w.duckdb'])
  expect(await place.command('retention --json')).toMatchObject({ code: 0 })
  expect(holds()).toEqual([])
  expect((await place.command('runs')).out).toMatch(/retention\s+done/)
})

describeOnEngines(
  'the settings of retention',
  bench => {
    test('rule each class by itself, and status tells them', async () => {
      const warehouse = await bench.warehouse()
      const ago = (days: number): string => new Date(Date.now() - days * dayMs).toISOString()
      for (const days of [3, 12, 30]) {
        const at = ago(days)
        const scan = join(warehouse.landing, `${days}.archive`)
        mkdirSync(scan, { recursive: true })
        writeFileSync(join(scan, 'scan.json'), '{}')
        utimesSync(scan, new Date(at), new Date(at))
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
        /kept: landed pages 7 days; superseded personal data 20 days; settled events 10 days; resolved quarantine 2 days/,
      )
      expect(readdirSync(warehouse.landing).filter(name => name.endsWith('.archive'))).toEqual(['3.archive'])
      await warehouse.open()
      const left = async (table: string, key: string) =>
        (await warehouse.engine.rows<{ id: string }>(`select ${key} as id from ${table} order by 1`)).map(
          ({ id }) => id,
        )
      expect(await left('pii.worker_history', 'worker_id')).toEqual(['12', '3'])
      expect(await left('ops.inbox', 'event_id')).toEqual(['3'])
      expect(await left('ops.quarantine', 'quarantine_id')).toEqual([])
    })
  },
  'all',
)
