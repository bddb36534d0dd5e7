/** The SQL of the catalogue runs on both engines and finds the same: questions, measures, and the charts of dashboards. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { command as sqlCommand } from '../../src/cli/commands/sql.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { chartSql, chartsOf } from '../../src/semantic/charts.ts'
import { grafanaSql } from '../../src/semantic/grafana.ts'
import { queryAsOf } from '../../src/warehouse/as-of.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const charts = chartsOf(entities)
const engines: Engine[] = []

beforeAll(async () => {
  engines.push((await filled.duckdb()).engine, (await filled.postgres()).engine)
  for (const engine of engines) await buildAll(engine)
}, 300_000)

/** Sums of doubles differ in their last digits with the order of rows; moments move on. */
const rounded = (rows: readonly object[]): string[] =>
  rows.map(row =>
    JSON.stringify(row, (_, value) =>
      Number.isFinite(Number(value)) && value !== '' && value !== null && typeof value !== 'boolean'
        ? Number(Number(value).toPrecision(9))
        : value,
    ),
  )

test.each(entities.filter(({ name }) => name !== 'freshness').map(entity => [entity.name, entity] as const))(
  'mart.%s: its question has the same answer on both engines',
  async (_, { questionSql, metrics, name }) => {
    const measures = `select ${metrics.map(one => `${one.sql} as ${one.name}`).join(', ')} from mart.${name}`
    for (const sql of metrics.length === 0 ? [questionSql] : [questionSql, measures]) {
      const [mine, others] = [await engines[0]?.rows(sql), await engines[1]?.rows(sql)]
      expect(rounded(others ?? []).sort()).toEqual(rounded(mine ?? []).sort())
    }
  },
)

test('the queries in the help of muster sql have the same rows on both engines', async () => {
  const queries = sqlCommand.examples.flatMap(example => {
    const [, day, sql] = /(?:--as-of (\S+) )?"(select [^"]+)"/.exec(example) ?? []
    return sql === undefined ? [] : day === undefined ? sql : queryAsOf(sql, { day, zone: 'Europe/London' })
  })
  expect(queries.length).toBeGreaterThan(3)
  for (const query of queries) {
    const [mine = [], others = []] = await Promise.all(engines.map(engine => engine.rows(query)))
    expect([query, rounded(others).sort()]).toEqual([query, rounded(mine).sort()])
    expect(mine.length).toBeGreaterThan(0)
  }
})

const examplesFile = fileURLToPath(new URL('../../assets/dictionary/examples.json', import.meta.url))
const maxRows = 10

/** Answers of the sandbox: `--update` writes them for the dictionary. */
test('the dictionary has example rows of each question, with the columns of its answer', async () => {
  const asked = entities.filter(({ kind, name }) => kind === 'fact' && name !== 'freshness')
  const made: Record<string, { columns: string[]; rows: unknown[][] }> = {}
  for (const { name, questionSql } of asked) {
    const rows = (await engines[0]?.rows<Record<string, unknown>>(questionSql)) ?? []
    const columns = Object.keys(rows[0] ?? {})
    made[name] = { columns, rows: rows.slice(0, maxRows).map(row => columns.map(column => row[column])) }
  }
  const isUpdated = JSON.stringify(expect.getState().snapshotState).includes('"_updateSnapshot":"all"')
  if (isUpdated) writeFileSync(examplesFile, `${JSON.stringify(made, null, 1)}\n`)
  const held = JSON.parse(readFileSync(examplesFile, 'utf8')) as typeof made
  const shapeOf = ([name, { columns }]: [string, (typeof made)[string]]) => [name, columns]
  expect(Object.entries(held).map(shapeOf)).toEqual(Object.entries(made).map(shapeOf))
})

test.each(charts.map(chart => [chart.title, chart] as const))(
  'the chart "%s" has rows, on both engines',
  async (_, chart) => {
    for (const engine of engines)
      expect((await engine.rows(chartSql(chart, 'mart'))).length).toBeGreaterThan(0)
    // The macros of Grafana, as it replaces them.
    const sql = grafanaSql(chart, 'mart').replace(
      /\$__timeFilter\((\w+)\)/g,
      "$1 between '2020-01-01' and '2030-01-01'",
    )
    expect((await engines[1]?.rows(sql))?.length).toBeGreaterThan(0)
  },
)
