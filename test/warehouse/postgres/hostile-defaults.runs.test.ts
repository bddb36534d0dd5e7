/** Servers that others administer: no default of database or role changes what is stored; what cannot work is said in one line. */
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { muster, stillClock, temporaryFolder } from '../../support/captured-world.ts'
import { addressOf, database, onServer } from '../../support/postgres-database.ts'
import { volatileColumns } from '../../support/warehouse-dump.ts'

const hostile: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  search_path: 'public',
  TimeZone: 'Pacific/Apia',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  quote_all_identifiers: 'on',
  transform_null_equals: 'on',
  array_nulls: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  statement_timeout: '40ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '50ms',
  idle_session_timeout: '50ms',
  row_security: 'off',
  synchronous_commit: 'off',
}

async function warehouseOn(alter: readonly string[] = []) {
  const made = await database()
  const name = new URL(made.url).pathname.slice(1)
  for (const one of alter) await onServer(`alter database ${name} set ${one}`)
  const cwd = temporaryFolder()
  return { made, name, cwd }
}

/** By the clock of the server or the service, which goes on between two loads. */
const ofTheMoment = [
  ...volatileColumns,
  'freshness.hours_since_read',
  'request_budget.remaining_today',
  'request_budget.requests_today',
]

/** Rows as JSON, by table. */
type Content = Readonly<Record<string, readonly string[]>>

/** Every row of star, pii, history and mart. */
async function content(name: string): Promise<Content> {
  const tables = await onServer<{ name: string; columns: string }>(
    `select format('%I.%I', table_schema, table_name) as name,
       string_agg(quote_ident(column_name), ', ' order by column_name) as columns
     from information_schema.columns
     where table_schema in ('star', 'pii', 'history', 'mart') and table_name || '.' || column_name <> all ('{${ofTheMoment.join()}}')
     group by 1 order by 1`,
    name,
  )
  const found: Record<string, readonly string[]> = {}
  for (const table of tables) {
    const rows = await onServer<{ row: string }>(
      `select row_to_json(r)::text as row from (select ${table.columns} from ${table.name}) as r order by r::text collate "C"`,
      name,
    )
    if (rows.length > 0) found[table.name] = rows.map(({ row }) => row)
  }
  return found
}

test('a database with every default turned against it gets the same marts as one without', async () => {
  const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
  const contents: Content[] = []
  for (const alter of [
    [],
    Object.entries(hostile).map(([key, value]) => `${key} = ${key === 'search_path' ? value : `'${value}'`}`),
  ]) {
    const { made, name, cwd } = await warehouseOn(alter)
    const env = {
      MUSTER_BASE_URL: sandbox.url,
      MUSTER_API_KEY: 'sandbox-company-key',
      MUSTER_WAREHOUSE: made.url,
    }
    const clock = stillClock()
    const run = (line: string) => muster(line, { env, cwd, clock })
    expect(await run('sync --quiet')).toMatchObject({ code: 0, err: '' })
    clock.move(60_000)
    const built = await run('build')
    expect(built.out + built.err).toMatch(new RegExp(`${readMarts().length} built`))
    for (const one of Object.keys(hostile)) await onServer(`alter database ${name} reset ${one}`)
    contents.push(await content(name))
    await made.drop()
  }
  const [usual = {}, other = {}] = contents
  expect(Object.keys(usual).filter(name => name.startsWith('star.fact_')).length).toBeGreaterThan(20)
  expect(Object.keys(usual).filter(name => name.startsWith('mart.')).length).toBeGreaterThan(40)
  const differ = (one: Content, from: Content) =>
    Object.entries(one).flatMap(([name, rows]) => {
      const there = new Set(from[name])
      const more = rows.length - (from[name]?.length ?? 0)
      const others = rows.filter(row => !there.has(row)).slice(0, 2)
      return more === 0 && others.length === 0 ? [] : [{ name, more, others }]
    })
  expect({ usual: differ(usual, other), other: differ(other, usual) }).toEqual({ usual: [], other: [] })
}, 240_000)

const doctor = async (url: string) => {
  const { out, err } = await muster('doctor', {
    env: {
      MUSTER_BASE_URL: 'http://127.0.0.1:1/v1',
      MUSTER_API_KEY: 'sandbox-company-key',
      MUSTER_WAREHOUSE: url,
    },
    cwd: temporaryFolder(),
    clock: systemClock,
  })
  return out + err
}

test.each(['LATIN1', 'SQL_ASCII'])(
  'doctor says that a database in %s cannot hold every name',
  async encoding => {
    const name = `muster_test_${process.pid}_${encoding.toLowerCase()}`
    await onServer(
      `create database ${name} encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
    )
    try {
      expect(await doctor(addressOf(name))).toMatch(
        new RegExp(
          `warehouse +the database stores texts in ${encoding}, which cannot hold every name .*encoding 'UTF8' template template0`,
          's',
        ),
      )
    } finally {
      await onServer(`drop database ${name}`)
    }
  },
)

test('doctor names the defaults that sessions replace, and fails for a database that is read-only by default', async () => {
  const { made, name } = await warehouseOn([
    `default_transaction_isolation = 'serializable'`,
    `statement_timeout = '30s'`,
  ])
  expect(await doctor(made.url)).toMatch(
    /server defaults +default_transaction_isolation = serializable, statement_timeout = 30000: replaced in every session/,
  )
  await onServer(`alter database ${name} set default_transaction_read_only = on`)
  expect(await doctor(made.url)).toMatch(
    /fail +server defaults +[^\n]*read-only by default.*server defaults: alter database or role … reset default_transaction_read_only/s,
  )
  await onServer(`alter database ${name} reset default_transaction_read_only`)
  const limited = `${made.url}?options=-c%20statement_timeout%3D2s`
  expect(await doctor(limited)).toMatch(/server defaults +[^\n]*statement_timeout = 2000/)
  await made.drop()
})
