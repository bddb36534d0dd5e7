/** What a BI tool reads about the marts with the login for BI: tables, comments, keys and joins, by the queries that Metabase's driver asks. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tableColumns } from '../../../src/marts/columns.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { martReferences } from '../../../src/marts/references.ts'
import { viewsOf } from '../../../src/marts/views.ts'
import { type BiLogin, biLogin } from '../../semantic/bi-login.ts'
import { buildAll } from '../../support/built-marts.ts'
import { useFilled } from '../../support/filled-warehouse.ts'

const filled = useFilled()
const marts = readMarts()
let login: BiLogin

beforeAll(async () => {
  const server = await filled.postgres()
  await buildAll(server.engine)
  login = await biLogin(server, `meta${process.pid}_`)
}, 300_000)
afterAll(() => login?.remove())

test('tables and views of the marts, each described; no other schema', async () => {
  const rows = await login.rows<{ schema: string; name: string; description: string | null }>(
    `select n.nspname as schema, c.relname as name, d.description
     from pg_catalog.pg_class c join pg_catalog.pg_namespace n on c.relnamespace = n.oid
     left join pg_catalog.pg_description d on c.oid = d.objoid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass
     where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and c.relkind in ('r', 'p', 'v', 'f', 'm')
       and has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT')`,
  )
  expect([...new Set(rows.map(({ schema }) => schema))]).toEqual(['mart'])
  expect(rows.map(({ name }) => name).sort()).toEqual(
    marts.flatMap(mart => [mart.name, ...viewsOf(mart).map(({ name }) => name)]).sort(),
  )
  expect(rows.filter(({ description }) => !description)).toEqual([])
})

test('every column has its comment, and every key column is known as one', async () => {
  const rows = await login.rows<{ name: string; table: string; isKey: boolean; comment: string | null }>(
    `select c.column_name as name, c.table_name as table, pk.column_name is not null as "isKey",
       col_description(cast(cast(format('%I.%I', cast(c.table_schema as text), cast(c.table_name as text)) as regclass) as oid), c.ordinal_position) as comment
     from information_schema.columns as c
     left join (
       select tc.table_schema, tc.table_name, kc.column_name from information_schema.table_constraints as tc
       join information_schema.key_column_usage as kc
         on tc.constraint_name = kc.constraint_name and tc.table_schema = kc.table_schema and tc.table_name = kc.table_name
       where tc.constraint_type = 'PRIMARY KEY'
     ) as pk on c.table_schema = pk.table_schema and c.table_name = pk.table_name and c.column_name = pk.column_name
     where c.table_schema !~ '^information_schema|catalog_history|pg_'`,
  )
  expect(rows.filter(({ comment }) => !comment)).toEqual([])
  const keys = (table: string): string[] =>
    rows
      .filter(row => row.table === table && row.isKey)
      .map(({ name }) => name)
      .sort()
  for (const mart of marts)
    expect([mart.name, keys(mart.name)]).toEqual([
      mart.name,
      tableColumns(mart)
        .filter(({ isKey }) => isKey)
        .map(({ name }) => name)
        .sort(),
    ])
})

test('joins to the dimensions, from PostgreSQL 18 on, which knows keys that are not enforced', async () => {
  const [server] = await login.rows<{ version: number }>(
    `select cast(current_setting('server_version_num') as integer) as version`,
  )
  const rows = await login.rows<{ mart: string; column: string; target: string; key: string }>(
    `select fk_table.relname as mart, fk_column.attname as column, pk_table.relname as target, pk_column.attname as key
     from pg_constraint c
     join pg_class fk_table on c.conrelid = fk_table.oid
     join pg_namespace fk_ns on c.connamespace = fk_ns.oid
     join pg_attribute fk_column on c.conrelid = fk_column.attrelid
     join pg_class pk_table on c.confrelid = pk_table.oid
     join pg_attribute pk_column on c.confrelid = pk_column.attrelid
     where fk_ns.nspname = 'mart' and c.contype = 'f'
       and fk_column.attnum = any(c.conkey) and pk_column.attnum = any(c.confkey)`,
  )
  const references = (server?.version ?? 0) >= 180_000 ? martReferences(marts) : []
  const wanted = references.map(({ mart, column, target }) =>
    [mart, column, target.mart, target.column].join(),
  )
  expect(rows.map(one => [one.mart, one.column, one.target, one.key].join()).sort()).toEqual(wanted.sort())
})

test('it changes nothing: no row, no table, no reference', async () => {
  for (const sql of [
    'delete from mart.dim_agency',
    'create table mart.mine (n int)',
    'create temporary table mine (agency_id text references mart.dim_agency)',
    'create table public.mine (agency_id text references mart.dim_agency)',
    'create trigger t before insert on mart.dim_agency execute function pg_catalog.suppress_redundant_updates_trigger()',
  ])
    await expect(login.rows(sql)).rejects.toThrow(/permission denied/)
})
