/** A publication for all tables, as change data capture makes one, refuses updates and deletes without an identity of rows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../../support/captured-world.ts'
import { type Database, database, onServer } from '../../support/postgres-database.ts'

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
const inDatabase = <Row extends object>(sql: string): Promise<Row[]> =>
  onServer<Row>(sql, new URL(made.url).pathname.slice(1))

/** Of every schema but those of the server. */
const unidentified = `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and c.relpersistence = 'p' and n.nspname not in ('pg_catalog', 'information_schema')
    and c.relreplident in ('d', 'n')
    and (c.relreplident = 'n' or not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary))`

test('sync, build, replay, forget and sweep work under a publication for all tables, and each table has an identity', async () => {
  expect(await command('sync --quiet')).toMatchObject({ code: 0 })
  expect(await inDatabase(unidentified)).toEqual([])
  await inDatabase('create publication everything for all tables')
  expect(await command('sync --quiet')).toMatchObject({ code: 0, err: '' })
  expect(await command('build')).toMatchObject({ code: 0 })
  expect(await command('sweep')).toMatchObject({ code: 0 })
  const [worker] = await inDatabase<{ id: string }>(
    'select worker_id as id from acme_pii.worker where name is not null limit 1',
  )
  expect(await command(`forget worker ${worker?.id} --yes`)).toMatchObject({ code: 0 })
  expect(await command('replay --quiet')).toMatchObject({ code: 0, err: '' })
  expect(await command('build --all')).toMatchObject({ code: 0 })
  expect(await command('sync --quiet')).toMatchObject({ code: 0, err: '' })
  expect(await inDatabase(unidentified)).toEqual([])
})

test('a table whose identity an administrator took away is named in one line, with the statement that helps', async () => {
  await inDatabase('alter table acme_ops.run replica identity nothing')
  const { code, err } = await command('sync users --quiet')
  expect(code).toBe(1)
  expect(err).toMatch(
    /^muster: a publication refuses changes of a table of the warehouse: cannot update table "run"[^\n]*: alter table … replica identity full[^\n]*\n$/,
  )
})
