/** The commands over a PostgreSQL warehouse: the address is all that differs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { type Database, database } from '../support/postgres-database.ts'

let made: Database
const cwd = temporaryFolder()
let env: Record<string, string>

beforeAll(async () => {
  made = await database()
  const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
  env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: 'sandbox-company-key',
    MUSTER_WAREHOUSE: made.url,
    MUSTER_SCHEMA_PREFIX: 'acme_',
  }
})
afterAll(() => made.drop())

const command = (line: string) => muster(line, { env, cwd, clock: systemClock })
const rows = async (query: string) => JSON.parse((await command(`sql --json ${query}`)).out)

test('nothing is read from a database that nothing was synced into', async () => {
  expect(await command('status')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/nothing was synced into this database yet.*run muster sync first/),
  })
  const doctor = await command('doctor')
  expect(doctor.out).toMatch(
    /warehouse +postgres:\/\/owner@127\.0\.0\.1:\d+\/\S+, PostgreSQL \d+\S*, can be written/,
  )
  expect(doctor.out + doctor.err).not.toContain('only%20for')
})

test('sync, and then status, runs, plan, sql and publish', async () => {
  expect(await command('sync key users expenses projects --quiet')).toMatchObject({ code: 0 })
  const status = JSON.parse((await command('status --json')).out)
  expect(status).toMatchObject({ isPublished: false, file: expect.stringMatching(/^postgres:\/\/owner@127/) })
  expect(await command('status')).toMatchObject({ code: 0, out: expect.stringMatching(/expenses/) })
  expect(await command('runs')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/sync key users expenses/),
  })
  expect(await command('plan --offline')).toMatchObject({ code: 0 })
  expect(await command('publish')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/needs no published copy/),
  })
  const [counted] = await rows('select count(*) as n from star.fact_expense')
  expect(counted.n).toBeGreaterThan(5)
  expect(await rows('select count(*) as n from acme_star.fact_expense')).toEqual([counted])
})

test('commands that are no run share the budget of the key, and are in the ledger', async () => {
  const spent = async () =>
    (await rows(`select (select sum(requests) from ops.sent) as sent, operator from ops.request_budget`))[0]
  const before = await spent()
  expect((await command('get me')).code).toBe(0)
  expect((await command('plan users')).code).toBe(0)
  expect((await command('doctor')).out).toContain('0 failed')
  const after = await spent()
  expect(after.operator - before.operator).toBeGreaterThan(10)
  expect(after.sent - before.sent).toBe(after.operator - before.operator)
})

test.each([
  ['delete from star.fact_expense', 2, /DELETE is not a query/],
  ['with gone as (delete from star.fact_expense returning 1) select 1', 1, /read-only|data-modifying/],
  ['select 1; delete from star.fact_expense', 2, /these are 2 statements/],
  [`select pg_advisory_lock(1), set_config('transaction_read_only','off',false)`, 2, /does more than read/],
  ['select * from nowhere', 1, /nowhere/],
  [
    'select * from mart.worker_week',
    1,
    /^muster: mart\.worker_week is declared but not built: run muster build\n$/,
  ],
  ['select * from star.worker_week', 1, /^muster: relation "acme_star\.worker_week" does not exist\n$/],
])('sql only reads: %s', async (query, code, expected) => {
  const [before] = await rows('select count(*) as n from star.fact_expense')
  expect(await command(`sql ${query}`)).toMatchObject({ code, err: expect.stringMatching(expected) })
  expect(await rows('select count(*) as n from star.fact_expense')).toEqual([before])
})

test('values are plain, and a result is cut at the limit', async () => {
  const query = `select 1.50::numeric(9,4) as pay, 9007199254740993 as big, 7::bigint as n, date '2026-05-06' as day,
    timestamptz '2026-01-02 03:04:05.6789+01' as at_time, array['a',null,'b,"c'] as list, null as nothing, true as yes`
  expect(await rows(query.replace(/\s+/g, ' '))).toEqual([
    {
      pay: '1.5000',
      big: '9007199254740993',
      n: 7,
      day: '2026-05-06',
      at_time: '2026-01-02T02:04:05.678900Z',
      list: ['a', null, 'b,"c'],
      nothing: null,
      yes: true,
    },
  ])
  const cut = await command('sql --limit 2 --json values (1),(2),(3)')
  expect([JSON.parse(cut.out).length, cut.err]).toEqual([2, expect.stringMatching(/more rows than these 2/)])
})

test('replay gives the same rows, and refuses to lose any', async () => {
  const query = 'select expense_id, run_id, loaded_at, row_hash from star.fact_expense order by 1'
  const before = await rows(query)
  const watermarks = await rows('select * from ops.watermark order by resource')
  expect(await command('replay')).toMatchObject({ code: 0, out: expect.stringMatching(/0 requests/) })
  expect(await rows(query)).toEqual(before)
  expect(await rows('select * from ops.watermark order by resource')).toEqual(watermarks)
  expect(await rows(`select nspname from pg_catalog.pg_namespace where nspname like '%replay%'`)).toEqual([])
})
