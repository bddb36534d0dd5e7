/** dags/airflow/muster.py in a real Airflow: `npm run test:airflow`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { database } from '../support/postgres-database.ts'
import { type AirflowPlace, airflowPlace, root } from './place.ts'

/** In three days: a run that is partial goes on before this, whatever the time. */
const inDays = `30 2 * * ${(new Date().getUTCDay() + 3) % 7}`

/** Name, schedule and task of DAGs of one task. */
const small = [
  ['checks', '0 4 * * *', 'check'],
  ['syncs', inDays, 'sync'],
  ['hourly', '0 * * * *', 'sync'],
] as const

/** Four times what the longest night takes on two busy cores. */
const timeout = 2_400_000

let place: AirflowPlace

beforeAll(async () => {
  const scale = 0.02
  const plenty = await keptSandbox({ scale, rateLimitPerMinute: 100_000 })
  // Enough for the key and a few lists.
  const little = await keptSandbox({ scale, rateLimitPerMinute: 100_000, rateLimitPerDay: 30 })
  const { url } = await database()
  const key = 'apiKey: "$'.concat('{MUSTER_TEST_KEY}"')
  place = airflowPlace(`connections:
  duck: { baseUrl: "${plenty.url}", ${key}, warehouse: "duckdb:data/duck.duckdb" }
  pg: { baseUrl: "${plenty.url}", ${key}, warehouse: "${url}" }
  spent: { baseUrl: "${little.url}", ${key}, warehouse: "duckdb:data/spent.duckdb" }
  away: { baseUrl: "http://127.0.0.1:9/api/open/v1", ${key}, warehouse: "duckdb:data/away.duckdb", waitMinutes: 0 }
  wrong: { baseUrl: "${plenty.url}", ${key}, warehouse: "mysql:wrong" }
`)
  mkdirSync(join(place.home, 'dags'))
  for (const name of ['nightly', 'weekly']) {
    const text = readFileSync(join(root, `dags/${name}.yaml`), 'utf8')
    writeFileSync(
      join(place.home, `dags/${name}.yaml`),
      text.replace(/^schedule: .*$/m, `schedule: ${inDays}`),
    )
  }
  for (const [name, schedule, task] of small)
    writeFileSync(
      join(place.home, `dags/${name}.yaml`),
      `name: ${name}\ndescription: One task.\nschedule: ${schedule}\ntasks: { ${task}: { run: ${task} } }\n`,
    )
  expect(await place.program('airflow', 'db', 'migrate')).toMatchObject({ code: 0 })
  const pools = await place.program('python', join(root, 'dags/airflow/muster.py'))
  expect(pools).toMatchObject({ code: 0 })
  writeFileSync(join(place.home, 'pools.json'), pools.out)
  expect(await place.program('airflow', 'pools', 'import', 'pools.json')).toMatchObject({ code: 0 })
  expect(await place.program('airflow', 'dags', 'reserialize')).toMatchObject({ code: 0 })
}, timeout)
afterAll(() => place?.remove())

interface NightRun {
  readonly run: string
  /** The state of each task by its id. */
  readonly tasks: Record<string, string>
  readonly retried: readonly string[]
  readonly text: string
}

/** Runs a DAG to its end, and prints where its time went. */
async function night(dag: string): Promise<NightRun> {
  const { text } = await place.program('airflow', 'dags', 'test', dag)
  const [run] = await place.rows(
    `select state, run_id from dag_run where dag_id = '${dag}' and start_date is not null order by start_date desc limit 1`,
  )
  const tasks = await place.rows(
    `select task_id, max(state) as state, count(*) as mapped from task_instance where dag_id = '${dag}' and run_id = '${run?.run_id}' group by task_id`,
  )
  const tries = await place.rows(
    `select task_id, try_number, duration from task_instance where dag_id = '${dag}' and run_id = '${run?.run_id}' and duration is not null order by start_date`,
  )
  const told = tries.map(one => `${one.task_id} ${Number(one.duration).toFixed(1)} s`)
  console.log(`${dag}: ${told.join(', ')}`)
  return {
    run: String(run?.state),
    // Hides a failure in a night that ends well.
    retried: tries.filter(one => Number(one.try_number) > 1).map(one => String(one.task_id)),
    tasks: Object.fromEntries(
      tasks.map(({ task_id, state, mapped }) => [task_id, Number(mapped) > 1 ? `${mapped} ${state}` : state]),
    ),
    text,
  }
}

// Without its cache, mypy reads the types of all of Airflow.
test('the file is formatted and typed like the rest', { timeout }, async () => {
  const file = join(root, 'dags/airflow/muster.py')
  const settings = join(root, 'test/airflow/pyproject.toml')
  const judged = [
    await place.program('ruff', 'check', '--config', settings, file),
    await place.program('ruff', 'format', '--check', '--config', settings, file),
    await place.program('mypy', '--config-file', settings, file),
  ]
  expect(judged.map(({ code, text }) => (code === 0 ? '' : text))).toEqual(['', '', ''])
})

/** The states of the nights that `muster status` and the metrics know of. */
async function nightsOf(file: string): Promise<string[]> {
  const engine = await openDuckdb(join(place.home, file))
  const rows = await engine.rows<{ state: string }>('select state from ops.dag_run order by finished_at')
  await engine.close()
  return rows.map(({ state }) => state)
}

test('nightly is green on a DuckDB file, and a DAG that waits for a mart starts', {
  timeout,
}, async () => {
  const { run, tasks, text } = await night('muster_duck_nightly')
  expect({ run, tasks, text: run === 'success' ? '' : text }).toMatchObject({
    run: 'success',
    tasks: { sync: 'success', build: 'success', publish: 'success', partial: 'success', go_on: 'skipped' },
  })
  const figures = await place.rows(
    `select task_id, value from xcom where dag_id = 'muster_duck_nightly' and key = 'return_value' and task_id in ('sync', 'build')`,
  )
  const told = figures.map(({ value }) => String(value)).join('\n')
  expect(told).toMatch(/runId.*requests|requests.*runId/s)
  expect(told).toContain('worker_week')
  const runIds = [...told.matchAll(/runId\W+(\w[\w-]*)/g)].map(([, id]) => id)
  expect(runIds).toHaveLength(2)
  // Where somebody who reads the log of a task looks for it.
  for (const id of runIds) expect(text).toContain(`muster run ${id} of duck: exit code 0`)
  expect(await nightsOf('data/duck.duckdb')).toEqual(['done'])
  const events = await place.rows(
    `select count(*) as n from asset_event e join asset a on a.id = e.asset_id where a.uri = 'muster://duck/mart/worker_week'`,
  )
  expect(Number(events[0]?.n)).toBeGreaterThan(0)
  // The loop of the scheduler makes the run; nothing executes its task.
  await place.program('airflow', 'scheduler', '--num-runs', '5')
  expect(await place.rows(`select dag_id, run_type from dag_run where dag_id = 'downstream'`)).toContainEqual(
    { dag_id: 'downstream', run_type: 'asset_triggered' },
  )
})

test('on PostgreSQL a sync is a task a list, then the records by id', { timeout }, async () => {
  const { run, tasks, text } = await night('muster_pg_nightly')
  expect({ run, tasks, text: run === 'success' ? '' : text }).toMatchObject({
    run: 'success',
    tasks: { sync: expect.stringMatching(/^\d+ success$/), sync_by_id: 'success', publish: 'success' },
  })
  const pools = await place.rows(
    `select distinct dag_id, pool from task_instance where task_id = 'build' order by dag_id`,
  )
  expect(pools).toContainEqual({ dag_id: 'muster_pg_nightly', pool: 'default_pool' })
})

test('weekly is green on both, and what writes a file waits in a pool of one slot', { timeout }, async () => {
  const weekly = {
    run: 'success',
    retried: [],
    tasks: { sweep: 'success', publish: 'success', partial: 'success' },
  }
  expect(await night('muster_duck_weekly')).toMatchObject(weekly)
  expect(await night('muster_pg_weekly')).toMatchObject(weekly)
  const writers = await place.rows(
    `select distinct t.task_id, p.slots from task_instance t join slot_pool p on p.pool = t.pool
     where t.dag_id = 'muster_duck_nightly' and t.task_id in ('sync', 'build', 'check') order by t.task_id`,
  )
  expect(writers.map(({ task_id, slots }) => [task_id, Number(slots)])).toEqual([
    ['build', 1],
    ['check', 1],
    ['sync', 1],
  ])
})

test('a spent budget leaves marts built, and the run goes on when there is more', {
  timeout,
}, async () => {
  const { run, tasks, text } = await night('muster_spent_nightly')
  expect({ tasks, text: tasks.build === 'success' ? '' : text }).toMatchObject({
    tasks: { sync: 'success', build: 'success' },
  })
  const engine = await openDuckdb(join(place.home, 'data/spent.duckdb'))
  const built = await engine.rows<{ n: number }>(`select count(*) as n from ops.mart where state = 'built'`)
  await engine.close()
  expect(Number(built[0]?.n)).toBeGreaterThan(20)
  const figures = await place.rows(
    `select value from xcom where dag_id = 'muster_spent_nightly' and task_id = 'sync' and key = 'return_value'`,
  )
  expect(String(figures[0]?.value)).toMatch(/partial\W+true/)
  expect({ run, text: run === 'success' ? '' : text }).toEqual({ run: 'success', text: '' })
  expect(await nightsOf('data/spent.duckdb')).toEqual(['later'])
  const later = await place.rows(
    `select run_after from dag_run where dag_id = 'muster_spent_nightly' and state = 'queued'`,
  )
  expect(String(later[0]?.run_after)).toMatch(/ 00:05:00/)
})

const queuedOf = (dag: string) =>
  place.rows(`select run_id, run_after from dag_run where dag_id = '${dag}' and state = 'queued'`)

test('a second run whose budget is spent asks for no second one, and an hourly one goes on by itself', {
  timeout,
}, async () => {
  expect((await night('muster_spent_syncs')).tasks).toMatchObject({ sync: 'success', go_on: 'success' })
  const queued = await queuedOf('muster_spent_syncs')
  expect(queued).toEqual([{ run_id: expect.stringMatching(/^go_on__/), run_after: expect.anything() }])
  expect(await night('muster_spent_syncs')).toMatchObject({ run: 'success', tasks: { go_on: 'skipped' } })
  expect(await queuedOf('muster_spent_syncs')).toEqual(queued)
  expect(await night('muster_spent_hourly')).toMatchObject({ run: 'success', tasks: { go_on: 'success' } })
  expect(await queuedOf('muster_spent_hourly')).toEqual([])
})

test('what can pass is tried again, wrong settings are not', { timeout }, async () => {
  const away = await night('muster_away_syncs')
  expect(away).toMatchObject({ run: 'failed', tasks: { sync: 'failed' }, retried: ['sync'] })
  const wrong = await night('muster_wrong_syncs')
  expect(wrong).toMatchObject({ run: 'failed', tasks: { sync: 'failed' }, retried: [] })
  expect(wrong.text).toMatch(
    /the settings are wrong: config\/muster.yaml is wrong: .*wrong.warehouse must be/,
  )
})

test('a failed check fails the run with its reason', { timeout }, async () => {
  const engine = await openDuckdb(join(place.home, 'data/duck.duckdb'))
  await engine.run('update mart.labour_spend_weekly set net_hours = net_hours + 1')
  await engine.close()
  const { run, tasks, retried, text } = await night('muster_duck_checks')
  expect({ run, tasks }).toMatchObject({ run: 'failed', tasks: { check: 'failed', partial: 'failed' } })
  expect(retried).toEqual([])
  expect(text).toMatch(/a check failed: \d+ checks? failed: \w+ \(/)
  expect((await nightsOf('data/duck.duckdb')).at(-1)).toBe('failed')
})
