/** Logins that see the rows of their companies: tried with a login of each, also after a mart took another shape. */
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { migrate } from '../../../src/state/migrate.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { muster, temporaryFolder } from '../../support/captured-world.ts'
import { type Database, database, onServer } from '../../support/postgres-database.ts'

const prefix = `r${process.pid}_`
const logins = { one: `one_${process.pid}`, both: `both_${process.pid}`, none: `none_${process.pid}` }
const roles = ['owner', 'loader', 'reader', 'bi', 'privacy'].map(role => prefix + role)
const cwd = temporaryFolder()
const password = 'for this test'
let made: Database
let name: string

const command = (line: string) =>
  muster(line, {
    clock: systemClock,
    cwd,
    env: { MUSTER_BASE_URL: 'http://localhost:1', MUSTER_API_KEY: 'unused', MUSTER_WAREHOUSE: made.url },
  })

async function as(role: string, sql: string): Promise<Record<string, unknown>[]> {
  const url = new URL(made.url)
  url.username = encodeURIComponent(role)
  url.password = password
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const companies = async (role: string, table = 'dim_project'): Promise<unknown[]> =>
  (await as(role, `select distinct company_id from mart.${table} order by 1`)).map(row => row.company_id)

beforeAll(async () => {
  made = await database()
  name = new URL(made.url).pathname.slice(1)
  const engine = await openPostgres({ url: made.url, shown: name }, { scratch: join(cwd, 'scratch') })
  await migrate(engine, '2026-11-01T00:00:00.000Z')
  await engine.close()
  expect(await command(`roles --prefix ${prefix}`)).toMatchObject({ code: 0 })
  for (const company of ['c1', 'c2', 'c3'])
    await onServer(
      `insert into star.dim_project (project_id, company_id, name, is_inferred, is_deleted) values ('p-${company}', '${company}', 'Site of ${company}', false, false)`,
      name,
    )
  expect(await command('build dim_project dim_date dim_agency data_health')).toMatchObject({ code: 0 })
  const given = `--login ${logins.one}=c1 --login ${logins.both}=c1,c2 --login ${logins.none}=nothing`
  const done = await command(`roles --prefix ${prefix} --rls company ${given}`)
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining(`${logins.both} sees 2 companies`) })
  for (const role of [...Object.values(logins), ...roles])
    await onServer(`alter role ${role} password '${password}'`)
}, 120_000)

afterAll(async () => {
  await made.drop()
  for (const role of [...Object.values(logins), ...roles]) await onServer(`drop role if exists ${role}`)
})

async function eachSeesItsOwn(): Promise<void> {
  expect(await companies(logins.one)).toEqual(['c1'])
  expect(await companies(logins.both)).toEqual(['c1', 'c2'])
  expect(await companies(logins.none)).toEqual([])
  expect(await companies(`${prefix}bi`)).toEqual(expect.arrayContaining(['c1', 'c2', 'c3']))
}

test('each login sees the rows of its companies, and a reader of all marts sees all', eachSeesItsOwn)

test('nothing else is shown: no mart without the column, no view, no star, no writing', async () => {
  expect(await as(logins.one, 'select count(*) as n from mart.dim_date')).not.toEqual([{ n: '0' }])
  for (const sql of [
    'select * from mart.dim_agency',
    'select * from mart.freshness',
    'select * from mart.data_health',
    'select * from star.dim_project',
    'select * from ops.run',
    "update mart.dim_project set company_id = 'c1'",
    'delete from mart.dim_project',
    'alter table mart.dim_project disable row level security',
    'drop policy "muster_rows_of_~roles" on mart.dim_project',
    `set role ${prefix}bi`,
  ])
    await expect(as(logins.one, sql)).rejects.toMatchObject({ code: expect.stringMatching(/^42501$/) })
})

test('a rebuilt mart keeps its policies, also one of another shape', async () => {
  expect(await command('build dim_project --all')).toMatchObject({ code: 0 })
  await eachSeesItsOwn()
  await onServer(`update ops.mart set shape = 'earlier'`, name)
  expect(await command('build dim_project --all')).toMatchObject({ code: 0 })
  await eachSeesItsOwn()
})

test('a login that is no longer in the list sees no rows', async () => {
  expect(await command(`roles --prefix ${prefix} --rls project --login ${logins.both}=p-c3`)).toMatchObject({
    code: 0,
  })
  expect(await companies(logins.both)).toEqual(['c3'])
  expect(await companies(logins.one)).toEqual([])
})

test('refuses a login with other rights, a list without a scope and an invalid name', async () => {
  await onServer(`grant ${prefix}bi to ${logins.one}`)
  expect(await command(`roles --prefix ${prefix} --rls company --login ${logins.one}=c1`)).toMatchObject({
    code: 78,
    err: expect.stringContaining('has the rights of other roles'),
  })
  await onServer(`revoke ${prefix}bi from ${logins.one}`)
  expect(await command(`roles --login ${logins.one}=c1`)).toMatchObject({ code: 2 })
  for (const name of ['pg_one', 'public', 'none', 'x'.repeat(64), 'ü'.repeat(32), '', '\t', 'a\u0007'])
    expect([name, await command(`roles --rls company --login ${name}=c1`)]).toEqual([
      name,
      expect.objectContaining({ code: 2, err: expect.stringContaining('is not a login with its ids') }),
    ])
})

test('logins with names that need quotes, twice in the list, of one beginning, and without ids', async () => {
  const long = `${'l'.repeat(55)}_${process.pid % 100}`
  const odd = {
    [`Acme"BI'${process.pid}`]: ['c1'],
    [`züri,-${process.pid}`]: ['c1', 'c2'],
    [`${long}_a`]: ['c2'],
    [`${long}_b`]: ['c3'],
    [`empty_${process.pid}`]: [],
  }
  const given = Object.entries(odd).flatMap(([name, ids]) =>
    ids.length === 0 ? [`--login ${name}=`] : ids.map(id => `--login ${name}=${id}`),
  )
  const line = `roles --prefix ${prefix} --rls company ${given.join(' ')}`
  try {
    for (const _ of ['first', 'again']) {
      expect(await command(line)).toMatchObject({ code: 0, err: '' })
      for (const [name, ids] of Object.entries(odd)) {
        await onServer(`alter role "${name.replaceAll('"', '""')}" password '${password}'`)
        expect([name, await companies(name)]).toEqual([name, ids])
        await expect(as(name, 'select * from star.dim_project')).rejects.toMatchObject({ code: '42501' })
        await expect(as(name, 'select * from mart.freshness')).rejects.toMatchObject({ code: '42501' })
      }
      expect(await companies(logins.both)).toEqual([])
    }
  } finally {
    for (const login of Object.keys(odd)) {
      const quoted = `"${login.replaceAll('"', '""')}"`
      await onServer(`drop owned by ${quoted}`, name)
      await onServer(`drop role ${quoted}`)
    }
  }
})

test('a mart without the column of the new scope stays visible to roles and hidden from logins', async () => {
  expect(await command('build dim_company')).toMatchObject({ code: 0 })
  expect(await command(`roles --prefix ${prefix} --rls company --login ${logins.one}=c1`)).toMatchObject({
    code: 0,
  })
  const before = await as(`${prefix}bi`, 'select company_id from mart.dim_company order by 1')
  expect(before.length).toBeGreaterThan(0)
  expect(await command(`roles --prefix ${prefix} --rls project --login ${logins.both}=p-c1`)).toMatchObject({
    code: 0,
  })
  expect(await as(`${prefix}bi`, 'select company_id from mart.dim_company order by 1')).toEqual(before)
  expect(await as(logins.one, 'select * from mart.dim_company')).toEqual([])
  await expect(as(logins.both, 'select * from mart.dim_company')).rejects.toMatchObject({ code: '42501' })
})
