/** The rights of each role, tried on connections of its own. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../../support/captured-world.ts'
import { type Database, database, onServer } from '../../support/postgres-database.ts'

const prefix = `t${process.pid}_`
const cwd = temporaryFolder()
let made: Database
let name: string
let sandboxUrl: string

const as = (role: string): string => {
  const url = new URL(made.url)
  url.username = `${prefix}${role}`
  url.password = 'for this test'
  return url.href
}

const command = (line: string, url = made.url) =>
  muster(line, {
    clock: systemClock,
    cwd,
    env: {
      MUSTER_BASE_URL: sandboxUrl,
      MUSTER_API_KEY: 'sandbox-company-key',
      MUSTER_WAREHOUSE: url,
      MUSTER_SCHEMA_PREFIX: 'acme_',
    },
  })

beforeAll(async () => {
  made = await database()
  name = new URL(made.url).pathname.slice(1)
  sandboxUrl = (await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })).url
  expect(await command(`roles --prefix ${prefix}`)).toMatchObject({ code: 0 })
  for (const role of ['owner', 'loader', 'reader', 'bi', 'privacy'])
    await onServer(`alter role ${prefix}${role} password 'for this test'`)
})
afterAll(async () => {
  await made.drop()
  for (const role of ['owner', 'loader', 'reader', 'bi', 'privacy'])
    await onServer(`drop role if exists ${prefix}${role}`)
})

async function asRole(role: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: as(role) })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

test('the loader cannot create the tables but the owner can; then the loader syncs', async () => {
  expect(await command('sync expenses key --quiet', as('loader'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/which this user may not do.*as the owner role/),
  })
  expect(await command('sync key --quiet', as('owner'))).toMatchObject({ code: 0 })
  expect(await command('sync expenses key users --quiet', as('loader'))).toMatchObject({ code: 0 })
  // A mart is made later than the roles.
  await asRole('owner', 'create table acme_star.later (n int)')
  await asRole('loader', 'create view acme_mart.expense as select 1 as n')
})

test('the loader forgets a worker whose figures are in marts', async () => {
  expect(await command('sync timesheets --quiet', as('loader'))).toMatchObject({ code: 0 })
  const built = await command('build --all --quiet', as('loader'))
  expect([0, 3]).toContain(built.code)
  const {
    rows: [row],
  } = (await asRole(
    'privacy',
    'select worker_id as id, name from acme_pii.worker where name is not null order by 1 limit 1',
  )) as { rows: { id: string }[] }
  const { code, err, out } = await command(`forget worker ${row?.id} --yes --json`, as('loader'))
  expect([code, err.includes('muster: '), JSON.parse(out).rows['pii.worker']]).toEqual([0, false, 1])
  const audited = await command('audit-pii --quiet', as('loader'))
  expect(audited.code).toBe(0)
})

test('queries of people and programs are bounded in time, and in what they spill', async () => {
  const shown = async (role: string) => {
    const [one, other] = (await asRole(role, 'show statement_timeout; show temp_file_limit')) as {
      rows: Record<string, string>[]
    }[]
    return [one?.rows[0]?.statement_timeout, other?.rows[0]?.temp_file_limit]
  }
  for (const role of ['reader', 'bi', 'privacy']) expect(await shown(role)).toEqual(['15min', '10GB'])
  for (const role of ['owner', 'loader']) expect(await shown(role)).toEqual(['0', '-1'])
  await expect(asRole('reader', `set temp_file_limit = '-1'`)).rejects.toThrow('permission denied')
})

test('marts are built and rebuilt by loader and owner in turn, and are read by the others', async () => {
  for (const role of ['loader', 'owner', 'loader']) {
    expect(await command('build data_health expense_summary --all --json', as(role))).toMatchObject({
      code: 0,
    })
    // As an upgrade does that changes the columns of a mart.
    await onServer(`update acme_ops.mart set shape = 'earlier'`, name)
  }
  const owners = await onServer(
    `select distinct tableowner as owner from pg_tables where schemaname = 'acme_mart'`,
    name,
  )
  expect(owners).toEqual([{ owner: `${prefix}loader` }])
  await expect(asRole('bi', 'select * from acme_mart.data_health')).resolves.toBeDefined()
})

const may: readonly [string, string][] = [
  ['reader', 'select * from fact_expense'],
  ['reader', 'select * from acme_mart.expense'],
  ['reader', 'select * from acme_star.later'],
  ['bi', 'select * from expense'],
  ['privacy', 'select * from acme_pii.text'],
  ['privacy', 'select * from acme_star.fact_expense'],
  ['loader', 'delete from acme_star.later'],
  ['loader', 'create temp table t (n int)'],
  ['loader', 'select * from acme_ops.quarantine'],
  ['loader', 'create table acme_mart.mine (n int); drop table acme_mart.mine'],
  ['owner', 'alter table acme_star.later add column m int'],
  ['owner', 'create table acme_mart.mine (n int); drop table acme_mart.mine'],
]

const never: readonly [string, string][] = [
  ...[
    'select * from acme_pii.text',
    'select * from acme_history.fact_expense',
    'select * from acme_ops.quarantine',
    'insert into acme_star.later values (1)',
    'update acme_star.fact_expense set run_id = null',
    'delete from acme_star.fact_expense',
    'truncate acme_star.fact_expense',
    'create table acme_star.mine (n int)',
    'create table public.mine (n int)',
    'create temp table mine (n int)',
    'create schema mine',
    `copy acme_star.fact_expense to program 'cat'`,
    `copy acme_star.later from '/etc/hostname'`,
    `select pg_read_file('/etc/hostname')`,
    'select lo_creat(-1)',
    'select lo_create(0)',
    `select lo_from_bytea(0, 'x')`,
    `select lo_import('/etc/hostname')`,
    `select lo_put(1, 0, 'x')`,
    `select lowrite(0, 'x')`,
    'select lo_truncate(0, 9)',
    'select lo_truncate64(0, 9)',
    `set role t${process.pid}_owner`,
  ].map((sql): [string, string] => ['reader', sql]),
  ['bi', 'select lo_create(0)'],
  ['privacy', 'select lo_create(0)'],
  ['loader', 'select lo_create(0)'],
  ['bi', 'select * from acme_star.fact_expense'],
  ['bi', 'select * from acme_pii.text'],
  ['bi', 'select * from acme_ops.run'],
  ['bi', 'create view acme_mart.mine as select 1 as n'],
  ['privacy', 'update acme_pii.text set run_id = null'],
  ['privacy', 'select * from acme_ops.quarantine'],
  ['privacy', 'select * from acme_ops.inbox'],
  ['reader', 'select * from acme_ops.migration'],
  ['loader', 'drop table acme_star.fact_expense'],
  ['loader', 'alter table acme_star.fact_expense add column n int'],
  ['loader', 'truncate acme_star.fact_expense'],
  ['loader', 'create schema mine'],
  ['loader', 'create table acme_star.mine (n int)'],
  ['loader', 'drop schema acme_star cascade'],
  ['loader', 'select rolpassword from pg_authid'],
  ['loader', `create role mine`],
  ['loader', 'create table public.mine (n int)'],
  ['loader', 'create table acme_ops.mine (n int)'],
  ['loader', 'create table acme_pii.mine (n int)'],
  ['loader', 'alter table acme_ops.mart add column n int'],
  ['loader', 'truncate acme_pii.text'],
  ['loader', `alter default privileges for role t${process.pid}_owner grant select on tables to public`],
  ['loader', 'alter schema acme_star rename to mine'],
  ['loader', `set role t${process.pid}_owner`],
  ['loader', `alter role t${process.pid}_owner password 'mine'`],
  ['loader', `copy acme_star.fact_expense to program 'cat'`],
  ['owner', 'create role mine'],
  ['owner', 'select rolpassword from pg_authid'],
]

describe('a role', () => {
  test.each(may)('%s may: %s', async (role, sql) => {
    await expect(asRole(role, sql)).resolves.toBeDefined()
  })
  test.each(never)('%s may never: %s', async (role, sql) => {
    await expect(asRole(role, sql)).rejects.toMatchObject({ code: '42501' })
  })
})

/** Of each role and schema: what it may do with any table or view there, or with all of them alike. */
const rights: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  loader: { star: 'riwd', history: 'riwd', pii: 'riwd', ops: 'riwd', mart: 'riwdDxt' },
  reader: { star: 'r', mart: 'r' },
  // Without the right to refer to them the standard's catalogue hides keys.
  bi: { mart: 'rx' },
  privacy: { star: 'r', pii: 'r', mart: 'r' },
}

test('each role has the same rights on all tables of a schema', async () => {
  const may = (role: string, letter: string, right: string): string =>
    `case when bool_or(has_table_privilege('${prefix}${role}', c.oid, '${right}')) then
       case when bool_and(has_table_privilege('${prefix}${role}', c.oid, '${right}')) then '${letter}' else '?' end else '' end`
  const letters = {
    r: 'select',
    i: 'insert',
    w: 'update',
    d: 'delete',
    D: 'truncate',
    x: 'references',
    t: 'trigger',
  }
  for (const role of ['loader', 'reader', 'bi', 'privacy']) {
    const rows = await onServer<{ schema: string; held: string; tables: string }>(
      `select replace(nspname, 'acme_', '') as schema, count(*) as tables,
         ${Object.entries(letters)
           .map(([letter, right]) => may(role, letter, right))
           .join(' || ')} as held
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where nspname like 'acme%' and relkind in ('r', 'v', 'p') group by nspname`,
      name,
    )
    expect(rows.map(({ schema }) => schema).sort()).toEqual(['history', 'mart', 'ops', 'pii', 'star'])
    const held = rows.filter(row => row.held !== '').map(row => [row.schema, row.held])
    expect({ role, ...Object.fromEntries(held) }).toEqual({ role, ...rights[role] })
  }
})

test('a second run changes nothing, and the dry run prints no password', async () => {
  const rights = () =>
    onServer(
      `select nspname, nspacl::text, (select string_agg(relname || relacl::text, ';' order by relname) from pg_class c
       where c.relnamespace = n.oid) as tables from pg_namespace n where nspname like 'acme%' order by 1`,
      name,
    )
  const before = await rights()
  expect(await command(`roles --prefix ${prefix}`)).toMatchObject({ code: 0 })
  const after = await rights()
  const sorted = (rows: unknown) =>
    JSON.stringify(rows).replace(/\{[^}]*\}/g, text => text.slice(1, -1).split(',').sort().join())
  expect(sorted(after)).toBe(sorted(before))
  // Nobody may log in yet.
  const nowhere = 'postgres://nobody@127.0.0.1:1/analytics'
  const dry = await command('roles --dry-run --prefix fresh_', nowhere)
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/create role "fresh_loader" login;/) })
  expect(dry.out).not.toMatch(/password/i)
  expect(await onServer(`select 1 from pg_roles where rolname like 'fresh_%'`)).toEqual([])
  expect(dry.out).toContain('on database "analytics"')
})

const readersFound = async (url: string): Promise<unknown> =>
  JSON.parse((await command('doctor --json', url)).out).findings.filter(
    ({ check }: { check: string }) => check === 'readers',
  )

test('an administrator who is no superuser runs what the dry run prints', async () => {
  const fresh = await database()
  const own = new URL(fresh.url).pathname.slice(1)
  const admin = `${prefix}admin`
  await onServer(`create role ${admin} login createrole password 'for this test'`)
  await onServer(`alter database ${own} owner to ${admin}`)
  const url = new URL(fresh.url)
  url.username = admin
  url.password = 'for this test'
  const { out } = await command(`roles --dry-run --prefix ${prefix}two_`, url.href)
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  // Twice: the second time changes nothing.
  await client.query(out)
  await client.query(out)
  await client.end()
  // Nobody but a superuser can take this from them.
  expect(await readersFound(url.href)).toEqual([
    {
      check: 'readers',
      state: 'warn',
      found: `${['bi', 'privacy', 'reader'].map(role => `${prefix}two_${role}`).join(', ')} may store large objects in the database`,
      advice: 'run muster roles once as a superuser, who alone may revoke this',
    },
  ])
  expect(await command(`roles --prefix ${prefix}two_`, fresh.url)).toMatchObject({ code: 0 })
  expect(await readersFound(url.href)).toEqual([])
  expect(
    await onServer(
      `select nspname as schema, replace(pg_get_userbyid(nspowner), '${prefix}two_', '') as owner from pg_namespace where nspname like 'acme%' order by 1`,
      own,
    ),
  ).toEqual(
    ['history', 'mart', 'ops', 'pii', 'star'].map(schema => ({
      schema: `acme_${schema}`,
      owner: schema === 'mart' ? 'loader' : 'owner',
    })),
  )
  await fresh.drop()
  for (const role of ['owner', 'loader', 'reader', 'bi', 'privacy', 'admin'].map(name =>
    name === 'admin' ? admin : `${prefix}two_${name}`,
  ))
    await onServer(`drop role ${role}`)
})

test.each([
  ['who may not create roles', () => command('roles', as('loader')), /may not create roles.*CREATEROLE/],
  ['a hostile prefix', () => command('roles --prefix x";drop'), /cannot begin the name of a role/],
])('one line for %s', async (_, run, expected) => {
  const { code, err } = await run()
  expect(code).toBeGreaterThan(0)
  expect(err).toMatch(expected)
})

test.each([
  ['runs', 'reader'],
  ['runs --json', 'privacy'],
  ['runs', 'bi'],
  ['sync key --quiet', 'reader'],
])('one line for %s as %s', async (line, role) => {
  const { code, out, err } = await command(line, as(role))
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(
    new RegExp(
      `^muster: ${prefix}${role} may not read acme_ops, .*: connect as the loader .*acme_mart.data_health`,
    ),
  )
})

test.each(['reader', 'bi', 'privacy'])('status shows %s what the marts hold', async role => {
  const { code, out, err } = await command('status', as(role))
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^resource +records +last read +completeness +failed checks/)
  const { resources } = JSON.parse((await command('status --json', as(role))).out)
  expect(resources.length).toBeGreaterThan(5)
})

test('one line for a file', async () => {
  const { code, err } = await muster('roles', {
    cwd,
    env: {
      MUSTER_BASE_URL: sandboxUrl,
      MUSTER_API_KEY: 'sandbox-company-key',
      MUSTER_WAREHOUSE: 'duckdb:a.duckdb',
    },
  })
  expect([code, err]).toEqual([2, expect.stringMatching(/is a file and has no roles.*muster publish/)])
})
