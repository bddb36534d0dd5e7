/** A mart that is read alone: names beside ids, complete weeks, one grouping a view, keys to dimensions, sums that are right. */
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildRequest, buildMarts } from '../../src/marts/build.ts'
import { dimensionOf, tableColumns } from '../../src/marts/columns.ts'
import { labelOf } from '../../src/marts/dimensions.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { measuresOf } from '../../src/marts/measures.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { martReferences } from '../../src/marts/references.ts'
import { viewsOf } from '../../src/marts/views.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName } from '../../src/warehouse/sql-text.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'

const marts = readMarts()
const filled = useFilled()
const engines: Engine[] = []
let builds = 0

function build(engine: Engine, request: Partial<BuildRequest> = {}) {
  builds += 1
  const rng = seededRng(builds)
  return buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng,
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts, names: [], all: false, ...request },
  )
}

beforeAll(async () => {
  engines.push((await filled.duckdb()).engine, (await filled.postgres()).engine)
  for (const engine of engines) {
    const { marts: built } = await build(engine)
    expect(
      built.filter(({ state }) => state !== 'built').map(({ name, message }) => `${name}: ${message}`),
    ).toEqual([])
  }
}, 300_000)

/** Ids that have nothing to show beside them, and why. */
const nameless: Readonly<Record<string, string>> = {
  approver_contact_id: 'a person, whose name is in pii only',
  rate_id: 'a card has no name of its own; trade, agency and project stand beside it',
  record_id: 'a timesheet or a claim: timesheet_reference stands beside it',
  metric_definition_id: 'a definition: default, or the calibrated one',
  definition_id: 'a definition of the mart itself',
}

/** Of every table and view of the schema, as the server has it. */
async function columnsIn(engine: Engine): Promise<Map<string, Map<string, string>>> {
  const rows = await engine.rows<{ name: string; column: string; type: string }>(
    `select table_name as name, column_name as column, data_type as type from information_schema.columns
     where table_catalog = current_database() and table_schema = $1`,
    [engine.schema('mart')],
  )
  const tables = new Map<string, Map<string, string>>()
  for (const { name, column, type } of rows)
    tables.set(name, (tables.get(name) ?? new Map()).set(column, type.toLowerCase()))
  return tables
}

test('every id in every mart and view has its name or reference beside it, or nothing to show', async () => {
  for (const engine of engines) {
    const tables = await columnsIn(engine)
    expect(tables.size).toBe(marts.length + marts.flatMap(viewsOf).length)
    const without = [...tables].flatMap(([table, columns]) =>
      [...columns.keys()]
        .filter(name => name.endsWith('_id') && !(name in nameless))
        .filter(name => {
          const label = labelOf(name)
          const isOwn = marts.some(
            mart => mart.name === table && mart.columns.some(one => one.name === name && one.isKey),
          )
          return !label || !(columns.has(label.beside) || (isOwn && columns.has('reference')))
        })
        .map(name => `${table}.${name}`),
    )
    expect([engine.kind, without]).toEqual([engine.kind, []])
  }
})

test('every mart and view with weeks or months in its key says which are settled or over', async () => {
  const keyed = marts.flatMap(mart => [{ name: mart.name, columns: tableColumns(mart) }, ...viewsOf(mart)])
  for (const engine of engines) {
    const tables = await columnsIn(engine)
    for (const [period, flag] of [
      ['week', 'is_settled_week'],
      ['month', 'is_complete_month'],
    ] as const) {
      const having = keyed.filter(({ columns }) =>
        columns.some(({ name, isKey, type }) => isKey && type === 'date' && name.startsWith(`${period}_`)),
      )
      expect(having.length).toBeGreaterThan(8)
      const without = having.filter(({ name }) => !tables.get(name)?.has(flag))
      expect([engine.kind, without.map(({ name }) => name)]).toEqual([engine.kind, []])
    }
  }
})

test('a name is that of star, and no name is empty', async () => {
  for (const engine of engines) {
    for (const mart of marts)
      for (const { name, computed } of tableColumns(mart)) {
        const id = mart.columns.find(column => labelOf(column.name)?.beside === name)
        const label = id && labelOf(id.name)
        if (!computed || !id || !label) continue
        const [row] = await engine.rows<{ wrong: number }>(
          `select count(*) as wrong from mart.${mart.name} as m left join star.${label.table} as d on d.${label.key} = m.${id.name}
           where m.${id.name} is not null and (m.${name} is null
             or m.${name} <> case m.${id.name} when '-1' then 'Unknown' else coalesce(d.${label.column}, m.${id.name}) end)`,
        )
        expect([mart.name, name, Number(row?.wrong)]).toEqual([mart.name, name, 0])
      }
    const named = await engine.rows("select name from star.dim_agency where agency_id = '-1'")
    expect(named).toEqual([{ name: 'Unknown' }])
  }
})

test('the week and the month in which the service was last read are not complete, and both engines settle the same weeks', async () => {
  const settled: string[] = []
  for (const engine of engines) {
    const rows = await engine.rows<{ week: string; settled: boolean }>(
      `select distinct cast(week_ending_date as text) as week, is_settled_week as settled from mart.labour_spend_weekly order by 1`,
    )
    settled.push(JSON.stringify(rows))
    const [{ day } = { day: '' }] = await engine.rows<{ day: string }>(
      `select cast(cast(max(as_of at time zone 'Europe/London') as date) as text) as day from mart.labour_spend_weekly`,
    )
    expect(rows.length).toBeGreaterThan(5)
    for (const { week, settled } of rows) if (week >= day) expect([week, settled]).toEqual([week, false])
    expect(rows.filter(({ settled }) => settled).length).toBeGreaterThan(rows.length / 2)
    const months = await engine.rows<{ month: string; complete: boolean }>(
      `select distinct cast(month_start_date as text) as month, is_complete_month as complete from mart.supplier_scorecard`,
    )
    for (const { month, complete } of months)
      expect([month, complete]).toEqual([month, month.slice(0, 7) < day.slice(0, 7)])
  }
  expect(settled[0]).toBe(settled[1])
})

test('a view of each grouping holds all its rows and no other, and sums over it are right', async () => {
  for (const engine of engines) {
    const groups = await engine.rows<{ group_by: string; n: number; kept: string }>(
      'select group_by, count(*) as n, sum(within_bounds_count) as kept from mart.time_to_fill group by group_by order by group_by',
    )
    expect(groups.map(({ group_by }) => group_by)).toContain('agency,month')
    for (const { group_by, n, kept } of groups) {
      const view = group_by === 'all' ? 'overall' : `by_${group_by.replace(',', '_')}`
      const [row] = await engine.rows<{ n: number; kept: string }>(
        `select count(*) as n, sum(within_bounds_count) as kept from mart.time_to_fill_${view}`,
      )
      expect([view, Number(row?.n), Number(row?.kept)]).toEqual([view, Number(n), Number(kept)])
    }
    const [first] = await engine.rows('select * from mart.time_to_fill_by_agency_month limit 1')
    const names = Object.keys(first ?? {})
    expect(names).toEqual(expect.arrayContaining(['agency_id', 'agency_name', 'month_start_date']))
    expect(names).not.toEqual(expect.arrayContaining(['company_id']))
    expect(names).not.toEqual(expect.arrayContaining(['group_key']))
  }
})

test('views and their columns are described in the database', async () => {
  for (const engine of engines) {
    const comments = await engine.comments()
    const missing = marts.flatMap(mart =>
      viewsOf(mart).flatMap(({ name, columns }) =>
        [name, ...columns.map(column => `${name}.${column.name}`)].filter(
          place => !comments.get(`mart.${place}`),
        ),
      ),
    )
    expect([engine.kind, missing]).toEqual([engine.kind, []])
  }
})

test('freshness counts from the last reading to now, not to the last run', async () => {
  for (const engine of engines) {
    const rows = await engine.rows<{ hours: number | null; is_fresh: boolean }>(
      'select hours_since_read as hours, is_fresh from mart.freshness',
    )
    const hours = (Date.now() - Date.parse(filledAt)) / 3_600_000
    expect(rows.length).toBeGreaterThan(10)
    for (const row of rows.filter(one => one.hours !== null))
      expect(Math.abs(Number(row.hours) - hours)).toBeLessThan(1)
    expect(rows.some(({ is_fresh }) => is_fresh)).toBe(Math.abs(hours) <= 26)
  }
})

test.each([
  { month: 4, day: '2026-03-31', year: 2026, quarter: 4, number: 12 },
  { month: 4, day: '2026-04-01', year: 2027, quarter: 1, number: 1 },
  { month: 1, day: '2026-12-31', year: 2026, quarter: 4, number: 12 },
  { month: 10, day: '2026-10-01', year: 2027, quarter: 1, number: 1 },
])('a fiscal year from month $month: $day', async ({ month, day, year, quarter, number }) => {
  for (const engine of engines) {
    const { marts: built } = await build(engine, { names: ['dim_date'], fiscalMonth: month })
    expect(built.filter(({ state }) => state === 'failed')).toEqual([])
    const [row] = await engine.rows(
      `select fiscal_year, fiscal_quarter, fiscal_month from mart.dim_date where date_day = cast('${day}' as date)`,
    )
    expect(row).toEqual({ fiscal_year: year, fiscal_quarter: quarter, fiscal_month: number })
  }
})

test('the UK tax year and its months begin on 6 April', async () => {
  for (const engine of engines)
    expect(
      await engine.rows(
        `select uk_tax_year, uk_tax_month from mart.dim_date where date_day in (date '2026-04-05', date '2026-04-06', date '2026-05-06') order by date_day`,
      ),
    ).toEqual([
      { uk_tax_year: '2025/26', uk_tax_month: 12 },
      { uk_tax_year: '2026/27', uk_tax_month: 1 },
      { uk_tax_year: '2026/27', uk_tax_month: 2 },
    ])
})

test('on PostgreSQL every id of a dimension and every date of a key is a foreign key, and resolves', async () => {
  const engine = engines[1] as Engine
  const held = await engine.rows<{ name: string }>(
    `select conname as name from pg_constraint where contype = 'f' and connamespace = 'mart'::regnamespace order by 1`,
  )
  const references = martReferences(marts)
  expect(held.map(({ name }) => name)).toEqual(references.map(({ name }) => name).sort())
  expect(references.length).toBeGreaterThan(60)
  for (const { mart, column, target } of references) {
    const [row] = await engine.rows<{ dangling: number }>(
      `select count(*) as dangling from mart.${mart} as m where m.${column} is not null
       and not exists (select 1 from mart.${target.mart} as d where d.${target.column} = m.${column})`,
    )
    expect([mart, column, Number(row?.dangling)]).toEqual([mart, column, 0])
  }
})

test('a mart of another shape takes the place of one that others refer to, with its views', async () => {
  for (const engine of engines) {
    const types = new Map([
      ['is_inferred', 'text'],
      ['raw_count', 'numeric(18,4)'],
      ['live_rows', 'numeric(18,4)'],
    ])
    const names = ['dim_agency', 'time_to_fill', 'data_health']
    const changed = marts.map(mart =>
      names.includes(mart.name)
        ? { ...mart, columns: mart.columns.map(one => ({ ...one, type: types.get(one.name) ?? one.type })) }
        : mart,
    )
    const { marts: built } = await build(engine, { marts: changed, names, all: true })
    expect(built.filter(({ state }) => state !== 'built')).toEqual([])
    expect(await engine.rows('select count(*) as n from mart.freshness')).not.toEqual([{ n: 0 }])
    expect(
      (await build(engine)).marts.filter(({ state }) => !['built', 'unchanged'].includes(state)),
    ).toEqual([])
  }
})

describe('measures', () => {
  test.each(marts.map(mart => [mart.name, mart] as const))(
    'mart.%s: a ratio is its numerator by its denominator',
    async (name, mart) => {
      const engine = engines[0] as Engine
      const types = new Map(mart.columns.map(column => [column.name, column.type]))
      for (const measure of measuresOf(mart).filter(({ aggregation }) => aggregation === 'ratio')) {
        const { column, numerator = '', denominator = '' } = measure
        const by = Number(denominator) > 0 ? denominator : `nullif(cast(${denominator} as double), 0)`
        const numeric = types.get(column)?.startsWith('numeric') ? 0.00006 : 1e-9
        const wrong = await engine.rows(
          `select ${column} as held, cast(${numerator} as double) / ${by} as computed from mart.${quoteName(name)}
         where abs(${column} - cast(${numerator} as double) / ${by}) > ${numeric} limit 3`,
        )
        expect([name, column, wrong]).toEqual([name, column, []])
      }
    },
  )

  test('a dimension is referred to under one name', () => {
    expect(
      dimensionOf({ name: 'approver_company_id', type: 'text', isKey: false, description: '' })?.beside,
    ).toBe('approver_company_name')
    expect(labelOf('metric_definition_id')).toBeUndefined()
  })
})
