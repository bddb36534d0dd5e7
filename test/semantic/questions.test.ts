/** The SQL of the catalogue runs on both engines and finds the same: questions, measures, and the charts of dashboards. */
import { beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { chartSql, chartsOf } from '../../src/semantic/charts.ts'
import { grafanaSql } from '../../src/semantic/grafana.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../marts/build-all.ts'
import { useFilled } from '../marts/filled-warehouse.ts'

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
    for (const sql of [questionSql, measures]) {
      const [mine, others] = [await engines[0]?.rows(sql), await engines[1]?.rows(sql)]
      expect(rounded(others ?? []).sort()).toEqual(rounded(mine ?? []).sort())
    }
  },
)

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
