/** `muster check`: what it prints, records and ends with. */
import { beforeAll, expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

let place: Place

async function inWarehouse<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const engine = await openDuckdb(place.file)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

const oldestSheet = `timesheet_id = (select min(timesheet_id) from star.fact_timesheet)`

beforeAll(async () => {
  place = await openPlace()
  expect(await place.command('check')).toMatchObject({
    code: 1,
    err: `muster: there is no warehouse file (${place.file}): run muster sync first\n`,
  })
  expect((await place.command('sync companies timesheets --quiet')).code).toBe(0)
})

test('says which checks there are, and which name was meant', async () => {
  const { code, out } = await place.command('check --list')
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^keys_unique +error +Every row of star and pii has a key/m),
  ])
  expect(await place.command('check keys_uniqe')).toMatchObject({
    code: 2,
    err: 'muster: there is no check keys_uniqe: did you mean keys_unique? muster check --list shows all of them\n',
  })
})

test('says that all pass, and what waits for marts', async () => {
  expect(await place.command('check keys_unique references_resolve mart_labour_totals')).toMatchObject({
    code: 0,
    out: 'all pass: 2 checks in 0.0 s; 1 wait for marts that were not built yet\n',
    err: '',
  })
  expect((await place.command('build labour_spend_weekly --quiet')).code).toBe(0)
  expect(await place.command('check mart_labour_totals')).toMatchObject({
    code: 0,
    out: 'all pass: 1 check in 0.0 s\n',
  })
})

test('ends with 3 for an error, with one line that says where and what to do', async () => {
  const [{ id } = { id: '' }] = await inWarehouse(async engine => {
    await engine.run(`update star.fact_timesheet set agency_id = 'nowhere' where ${oldestSheet}`)
    return engine.rows<{ id: string }>('select min(timesheet_id) as id from star.fact_timesheet')
  })
  const failed = await place.command('check timesheet_buckets references_resolve')
  expect(failed.code).toBe(3)
  expect(failed.out.split('\n')).toEqual([
    `error references_resolve: 1 row of star.fact_timesheet (${id}, agency_id). Every reference points to a row of its dimension, or is '-1'. Next: run muster replay; joins lose these rows until then`,
    '1 error: 1 of 2 checks in 0.0 s pass',
    '',
  ])
  const { code, out, err } = await place.command('check references_resolve --json')
  expect([code, err]).toEqual([
    3,
    'muster: 1 check failed: references_resolve (star.fact_timesheet): the output says what to do about each\n',
  ])
  expect(JSON.parse(out)).toMatchObject({
    results: [
      {
        name: 'references_resolve',
        severity: 'error',
        failures: [{ subject: 'star.fact_timesheet', rows: 1, samples: [`${id}, agency_id`] }],
      },
    ],
    skipped: [],
  })
})

test('ends with 0 when there are warnings only', async () => {
  await inWarehouse(engine =>
    engine.run(`update star.fact_timesheet set week_ending_date = week_ending_date + 1 where ${oldestSheet}`),
  )
  const { code, out } = await place.command('check week_ending_weekday')
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^warn week_ending_weekday: 1 row .*\n1 warning: 0 of 1 check /),
  ])
})

test('keeps what it found in the ledger, where mart.data_health counts it', async () => {
  await place.command('build data_health --quiet')
  await inWarehouse(async engine => {
    expect(
      await engine.rows(
        `select check_name, subject, severity, cast(max(failed_rows) as integer) as n from ops.check_result
         where (check_name = 'keys_unique' or check_name = 'references_resolve' and failed_rows > 0) group by all order by 1`,
      ),
    ).toEqual([
      { check_name: 'keys_unique', subject: '', severity: 'error', n: 0 },
      { check_name: 'references_resolve', subject: 'star.fact_timesheet', severity: 'error', n: 1 },
    ])
    const health = `select cast(failed_checks as integer) as failed, cast(failed_error_checks as integer) as errors
      from mart.data_health where resource = 'timesheets'`
    expect(await engine.rows(health)).toEqual([{ failed: 2, errors: 1 }])
    const runs = await engine.rows<{ arguments: string }>(
      `select arguments, state, message from ops.run where command = 'check' order by run_id`,
    )
    expect(runs.at(-1)).toEqual({
      arguments: 'week_ending_weekday',
      state: 'done',
      message: 'failing: week_ending_weekday',
    })
  })
})

test('is one short line in the list of runs, however many checks there are', async () => {
  await place.command('check --except references_resolve')
  await place.command('check')
  await inWarehouse(async engine => {
    const runs = await engine.rows<{ arguments: string }>(
      `select arguments from ops.run where command = 'check' order by run_id desc limit 2`,
    )
    expect(runs.map(run => run.arguments)).toEqual(['', '--except references_resolve'])
  })
})
