/** What DuckDB parses a SELECT to, read as lineage: by hand for every form that our SQL takes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineageOf } from '../../src/dictionary/lineage.ts'
import { openStage } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-lineage-'))
let engine: Engine

const columns: Readonly<Record<string, readonly string[]>> = {
  'star.sheet': ['id', 'worker', 'week', 'hours', 'status'],
  'star.expense': ['id', 'worker', 'value'],
}

beforeAll(async () => {
  engine = await openStage(folder)
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['a column by its name', 'select hours from star.sheet', [['sheet.hours']]],
  [
    'an expression',
    'select hours / nullif(cast(week as integer), 0) as r from star.sheet',
    [['sheet.hours', 'sheet.week']],
  ],
  ['a literal', `select 1 as one, 'a' as a from star.sheet`, [[], []]],
  ['rows that are counted', 'select count(*) as n from star.sheet s', [['sheet']]],
  [
    'a filter',
    `select count(*) filter (where s.status = 'x') as n from star.sheet s`,
    [['sheet', 'sheet.status']],
  ],
  [
    'a join',
    'select s.hours, e.value from star.sheet s left join star.expense e on e.worker = s.worker',
    [['sheet.hours'], ['expense.value']],
  ],
  [
    'a column that both sides of using have',
    'select worker from star.sheet join star.expense using (worker)',
    [['expense.worker', 'sheet.worker']],
  ],
  [
    'a star',
    'select e.* from star.sheet s cross join star.expense e',
    [['expense.id'], ['expense.worker'], ['expense.value']],
  ],
  [
    'named queries',
    'with a as (select worker as w, sum(hours) as h from star.sheet group by 1), b as (select w, h * 2 as d from a) select d, w from b',
    [['sheet.hours'], ['sheet.worker']],
  ],
  [
    'renamed columns',
    'with a(x) as (select hours from star.sheet) select b.y from (select x from a) as b(y)',
    [['sheet.hours']],
  ],
  [
    'a name that hides a table',
    'with sheet as (select value as hours from star.expense) select hours from sheet',
    [['expense.value']],
  ],
  [
    'a union',
    'select worker, hours from star.sheet union all select worker, value from star.expense',
    [
      ['expense.worker', 'sheet.worker'],
      ['expense.value', 'sheet.hours'],
    ],
  ],
  [
    'recursion',
    'with recursive r as (select id as i, week as n from star.sheet union all select i, n + 1 from r where n < 3) select i, n from r',
    [['sheet.id'], ['sheet.week']],
  ],
  [
    'a subquery',
    'select (select max(e.value) from star.expense e where e.worker = s.worker) as v from star.sheet s',
    [['expense.value']],
  ],
  [
    'a subquery that looks outside',
    'select (select s.hours + e.value from star.expense e) as v from star.sheet s',
    [['expense.value', 'sheet.hours']],
  ],
  [
    'a membership',
    'select worker in (select e.worker from star.expense e) as has from star.sheet',
    [['expense.worker', 'sheet.worker']],
  ],
  [
    'existence',
    'select exists (select 1 from star.expense e where e.worker = s.worker) as has from star.sheet s',
    [['expense']],
  ],
  [
    'a window',
    'select row_number() over (partition by worker order by week) as n from star.sheet',
    [['sheet.week', 'sheet.worker']],
  ],
  [
    'a lateral join',
    'select l.d from star.sheet s cross join lateral (select s.hours * 2 as d) as l',
    [['sheet.hours']],
  ],
  [
    'generated rows and values',
    'select n, v, hours from star.sheet cross join generate_series(1, 2) as g(n) cross join (values (1)) as t(v)',
    [[], [], ['sheet.hours']],
  ],
])('%s', async (_, sql, expected) => {
  const found = await lineageOf(engine, sql, table => columns[table] ?? [])
  expect(found).toEqual(expected.map(names => names.map(name => `star.${name}`)))
})

test('a text that is no SELECT is refused', async () => {
  await expect(lineageOf(engine, 'select from where', () => [])).rejects.toThrow(/cannot parse/)
})
