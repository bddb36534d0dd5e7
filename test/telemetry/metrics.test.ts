/** Figures for Prometheus, read from the ledger by a scrape over a socket and checked by a parser of the format. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import parse from 'parse-prometheus-text-format'
import { expect, test } from 'vitest'
import { figures } from '../../src/state/monitoring.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { holdFile } from '../cli/locked-file.ts'
import { served } from '../serve/served.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { describeOnEngines, templateFile } from '../support/warehouse-fixture.ts'

const now = () => new Date().toISOString()
const person = 'Ada Planted'

/** One row at least behind every figure. */
async function fill(engine: Engine): Promise<void> {
  const at = now()
  const run = (id: string, state: string, requests: number) =>
    engine.run(
      `insert into ops.run (run_id, command, arguments, state, started_at, finished_at, retries, requests, records_read,
         rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
       values ('${id}', 'sync', '', '${state}', '${at}', '${at}', 1, ${requests}, 10, 5, 3, 2, 0, 1, '0')`,
    )
  await run('r1', 'done', 100)
  await run('r2', 'incomplete', 7)
  await engine.run(
    `insert into ops.run_resource (run_id, resource, state, requests, records_read, rows_inserted, rows_changed,
       rows_removed, records_unchanged, quarantined) values ('r1', 'timesheets', 'done', 90, 10, 5, 3, 2, 0, 1),
       ('r1', 'users', 'failed', 90, 1, 0, 0, 0, 0, 1)`,
  )
  await engine.run(
    `insert into ops.api_usage (run_id, api_key_id, requests_today, remaining_today, observed_at, rate_limit_per_minute,
       rate_limit_per_day) values ('r1', 'k1', 10, 4990, '${at}', 60, 5000),
       ('r0', 'k2', 10, 4, '2026-01-01T10:00:00Z', 60, 5000)`,
  )
  await engine.run(
    `insert into ops.sent (second, requests) values (${Math.floor(Date.now() / 1000)}, 25), (7, 30)`,
  )
  await engine.run(
    `insert into ops.dag_run (dag_run_id, dag, state, started_at, finished_at, reason) values
       ('n1', 'nightly', 'done', '2026-11-20T02:30:00Z', '2026-11-20T03:30:00Z', null),
       ('n2', 'nightly', 'failed', '2026-11-21T02:30:00Z', '2026-11-21T03:00:00Z', '${person}')`,
  )
  await engine.run(
    `insert into ops.quarantine (quarantine_id, resource, record_id, path, text, reason, payload, page, run_id, seen_at)
       values ('q1', 'users', 'u1', 'name', '${person}', 'too long', '{}', 'p', 'r1', '${at}'),
       ('q2', 'users', 'u1', 'phone', '${person}', 'too long', '{}', 'p', 'r1', '${at}')`,
  )
  const check = (runId: string, rows: number, checked: string) =>
    engine.run(`insert into ops.check_result (run_id, check_name, subject, severity, failed_rows, sample_keys, checked_at)
      values ('${runId}', 'keys', 'star."odd \\ name"', 'error', ${rows}, '${person}', '${checked}')`)
  await check('r0', 9, '2026-11-01T00:00:00Z')
  await check('r1', 4, at)
  await engine.run(
    `insert into ops.mart (name, definition_id, shape, sources, state, built_at, rows, tried_at, run_id)
       values ('spend', 'd', 's', '{}', 'refused', '${at}', 12, '${at}', 'r1')`,
  )
  await engine.run(
    `insert into ops.inbox (event_id, type, entity, record_id, received_at, deliveries, state) values
       ('old', 'rate_amended', null, null, '2026-10-01T10:00:00Z', 1, 'unreadable')`,
  )
}

/** name{label=value} -> value, of everything but the time of the process. */
function valuesOf(text: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const { name, metrics } of parse(text))
    for (const { labels = {}, value } of metrics) {
      const shown = Object.entries(labels).map(([label, held]) => `${label}=${held}`)
      found.set(`${name}{${shown.join(',')}}`, Number(value))
    }
  return found
}

describeOnEngines('figures for Prometheus', bench => {
  test('a scrape shows every figure of the ledger, and nothing of a person', async () => {
    const warehouse = await bench.warehouse()
    await fill(warehouse.engine)
    const { url } = await served(warehouse, { schedule: [{ name: 'nightly', schedule: '30 2 * * *' }] })
    const answer = await fetch(new URL('/metrics', url))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    expect(text).not.toContain(person)
    const families = parse(text)
    expect(families.every(({ help }) => help.length > 10)).toBe(true)
    const names = new Set(families.map(({ name }) => name))
    expect(figures.filter(({ name }) => !names.has(name)).map(({ name }) => name)).toEqual([])
    const values = valuesOf(text)
    expect(Object.fromEntries([...values].filter(([name]) => !name.includes('timestamp')))).toMatchObject({
      'muster_requests_total{connection=test,command=sync}': 107,
      'muster_runs_total{connection=test,command=sync,state=incomplete}': 1,
      'muster_rows_inserted_total{connection=test,resource=timesheets}': 5,
      'muster_rows_changed_total{connection=test,resource=timesheets}': 3,
      'muster_budget_day_limit{connection=test,key=k1}': 5000,
      'muster_budget_day_left{connection=test,key=k1}': 4990,
      // Told on another day: its day has begun anew.
      'muster_budget_day_left{connection=test,key=k2}': 5000,
      'muster_budget_minute_left{connection=test,key=k1}': 35,
      'muster_resource_is_behind{connection=test,resource=timesheets}': 0,
      'muster_resource_is_behind{connection=test,resource=users}': 1,
      'muster_quarantined_records{connection=test,resource=users}': 1,
      'muster_check_failed_rows{connection=test,check=keys,severity=error}': 4,
      'muster_mart_rows{connection=test,mart=spend}': 12,
      'muster_mart_is_refused{connection=test,mart=spend}': 1,
      'muster_events_waiting{connection=test}': 0,
      'muster_events_lag_seconds{connection=test}': 0,
      'muster_ledger_is_readable{connection=test}': 1,
      'muster_build_info{connection=test,version=test}': 1,
      'muster_deliveries_refused_total{connection=test,reason=signature}': 0,
    })
    const day = Date.parse('2026-11-20T03:30:00Z') / 1000
    expect(values.get('muster_dag_run_done_timestamp_seconds{connection=test,dag=nightly}')).toBe(day)
    expect((await fetch(new URL('/metrics', url), { method: 'POST' })).status).toBe(405)
  })

  // On a server the session stays open, but waits its turn all the same.
  test('while a DAG has the warehouse, a scrape answers at once with what was read before', async () => {
    const warehouse = await bench.warehouse()
    await fill(warehouse.engine)
    let end: (code: number) => void = () => undefined
    const ran = new Promise<number>(resolve => {
      end = resolve
    })
    let offset = 0
    const clock = {
      now: () => Date.now() + offset,
      sleep: (ms: number) => new Promise<void>(resolve => setTimeout(resolve, Math.min(ms, 20))),
    }
    const { url, log } = await served(warehouse, {
      clock,
      schedule: [{ name: 'nightly', schedule: '* * * * *' }],
      runDag: () => ran,
    })
    const scrape = async () => valuesOf(await (await fetch(new URL('/metrics', url))).text())
    expect((await scrape()).get('muster_ledger_is_readable{connection=test}')).toBe(1)
    offset = 120_000
    await new Promise(resolve => setTimeout(resolve, 300))
    const began = Date.now()
    const during = await scrape()
    expect(Date.now() - began).toBeLessThan(3500)
    expect(during.get('muster_ledger_is_readable{connection=test}')).toBe(0)
    expect(during.get('muster_requests_total{connection=test,command=sync}')).toBe(107)
    end(0)
    await expect
      .poll(async () => (await scrape()).get('muster_ledger_is_readable{connection=test}'), {
        timeout: 10_000,
      })
      .toBe(1)
    expect(log.join()).toContain('a DAG has ended')
  })
})

test('muster metrics writes the figures of the settings, one connection that cannot be read apart', async () => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  const names = ['well', 'fresh', 'broken']
  const lines = names.map(name => `  ${name}: { warehouse: "duckdb:${name}.duckdb" }\n`)
  writeFileSync(join(cwd, 'config/muster.yaml'), `connections:\n${lines.join('')}`)
  copyFileSync(await templateFile(), join(cwd, 'well.duckdb'))
  const engine = await openDuckdb(join(cwd, 'well.duckdb'))
  await fill(engine)
  await engine.close()
  writeFileSync(join(cwd, 'broken.duckdb'), 'no database')
  const at = { cwd, env: { PATH: '/usr/bin:/bin' } }
  const out = await muster('metrics --all --file muster.prom', at)
  expect(out.code).toBe(1)
  expect(out.err).toMatch(/^[^\n]*broken[^\n]*\n$/)
  const values = valuesOf(readFileSync(join(cwd, 'muster.prom'), 'utf8'))
  expect(values.get('muster_requests_total{connection=well,command=sync}')).toBe(107)
  expect(values.get('muster_ledger_is_readable{connection=well}')).toBe(1)
  expect(values.get('muster_ledger_is_readable{connection=broken}')).toBe(0)
  expect(values.get('muster_ledger_is_readable{connection=fresh}')).toBe(1)
  const again = await muster('metrics --connection well', at)
  expect([again.code, valuesOf(again.out).size > 20]).toEqual([0, true])
  // One that somebody else has open is not at fault: later it can be read.
  await holdFile(join(cwd, 'well.duckdb'))
  const held = await muster('metrics --connection well', at)
  expect([held.code, valuesOf(held.out).get('muster_ledger_is_readable{connection=well}')]).toEqual([75, 0])
  expect((await muster('metrics --all', at)).code).toBe(1)
})
