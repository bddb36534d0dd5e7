/** dbt computes marts of two connections on Spark as DuckDB does, and a second run replaces the rows of its connection alone. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { type SparkMart, sparkMarts } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteNames, quoteText } from '../../src/warehouse/sql-text.ts'
import { pythonTool, run, writeFiles } from '../semantic/tool.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { hasJava, sparkPlace } from '../support/spark.ts'
import { publishMarts } from './published.ts'

/** Delta 3.3 cannot replace a table on Spark 3.5.6 or later: https://github.com/delta-io/delta/issues/4671. */
const packages = ['dbt-core==1.11.*', 'dbt-spark[session]==1.11.*', 'pyspark==3.5.5']

/** A dimension, a mart of records, and one of sums, with the marts that they read. */
const chosen = ['dim_agency', 'open_demand', 'expense_summary']

const folder = mkdtempSync(join(tmpdir(), 'muster-dbt-spark-'))
const lake = join(folder, 'lake')
const project = join(folder, 'dbt')
const worlds = { acme: useFilled({ scale: 0.02 }), north: useFilled({ scale: 0.02, seed: 2 }) }
const engines = new Map<string, Engine>()
const made = sparkMarts(readMarts())
let programs = ''

const conf: Readonly<Record<string, string>> = {
  'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
  'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
  'spark.sql.warehouse.dir': join(folder, 'warehouse'),
  'spark.sql.shuffle.partitions': '1',
  'spark.databricks.delta.snapshotPartitions': '1',
  'spark.ui.enabled': 'false',
  'spark.ui.showConsoleProgress': 'false',
}

beforeAll(async () => {
  if (!hasJava) return
  programs = await pythonTool('dbt-spark', packages)
  for (const [connection, world] of Object.entries(worlds)) {
    const { engine } = await world.duckdb()
    engines.set(connection, engine)
    await publishMarts(engine, connection, { folder: lake })
  }
  const connections = Object.keys(worlds).map(name => ({ name, days: defaultDays, fiscalMonth: 4 }))
  const target = '{type: spark, method: session, schema: mart_out, host: NA}'
  const profiles = `muster_marts: {target: local, outputs: {local: ${target}}}\n`
  writeFiles(folder, [...sparkFiles(made, connections), { path: 'dbt/profiles.yml', content: profiles }])
}, 1_800_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function dbt(...args: readonly string[]): Promise<void> {
  const settings = Object.entries(conf).flatMap(([name, value]) => ['--conf', `${name}=${value}`])
  const submit = ['--master', 'local[2]', '--driver-memory', '2g', '--jars', sparkPlace().jars, ...settings]
  const env = {
    ...{ DBT_PROFILES_DIR: '.', DBT_SEND_ANONYMOUS_USAGE_STATS: 'false', NO_COLOR: '1' },
    PYSPARK_SUBMIT_ARGS: [...submit, 'pyspark-shell'].join(' '),
    PYSPARK_PYTHON: join(programs, 'python'),
  }
  const { code, output } = await run(join(programs, 'dbt'), ['--no-use-colors', ...args], {
    cwd: project,
    env,
  })
  expect([code, code === 0 ? '' : output.slice(-3000)]).toEqual([0, ''])
}

const variables = (connection: string): string[] => {
  const { zone, firstDay, lastDay } = defaultDays
  const days = { zone, first_day: firstDay, last_day: lastDay, fiscal_month: 4 }
  return ['--vars', JSON.stringify({ connection, ...days, today: filledAt.slice(0, 10) })]
}

interface Entry {
  readonly add?: { readonly path: string }
  readonly remove?: { readonly path: string }
}

/** Files that hold the rows of a connection now, as the log of the table says. */
function filesOf(table: string, connection: string): string[] {
  const log = join(table, '_delta_log')
  const commits = readdirSync(log).filter(name => name.endsWith('.json'))
  const entries = commits.sort().flatMap(name => readFileSync(join(log, name), 'utf8').trim().split('\n'))
  const files = new Set<string>()
  for (const entry of entries) {
    const { add, remove } = JSON.parse(entry) as Entry
    if (remove) files.delete(remove.path)
    if (add) files.add(add.path)
  }
  return [...files]
    .filter(path => path.startsWith(`connection=${connection}/`))
    .map(path => join(table, path))
}

/** Rows in which dbt's and DuckDB's marts differ, by connection and mart. */
async function differing(): Promise<string[]> {
  const wrong: string[] = []
  for (const [connection, engine] of engines)
    for (const name of chosen) {
      const { columns } = made.marts.find(({ mart }) => mart.name === name) as SparkMart
      const names = quoteNames([...columns.map(column => column.name), 'definition_id', 'as_of'])
      const own = `select ${names} from mart.${quoteName(name)}`
      const files = filesOf(join(folder, 'warehouse/mart_out.db', name), connection)
      const list = files.map(quoteText).join(', ')
      // A mart without rows has no file.
      const other = list
        ? `select ${names} from read_parquet([${list}], hive_partitioning = false)`
        : `${own} limit 0`
      const [row] = await engine.rows<{ n: number }>(
        `select count(*) as n from ((${own} except all (${other})) union all ((${other}) except all ${own}))`,
      )
      if (Number(row?.n) > 0) wrong.push(`${connection} ${name}: ${row?.n} rows differ`)
    }
  return wrong
}

test.skipIf(!hasJava)(
  'dbt computes the marts of each connection, and a second run replaces the rows of its own alone',
  async () => {
    const named = ['--args', JSON.stringify({ lake })]
    await dbt('run-operation', 'muster_register', ...named, ...variables('acme'))
    const select = ['--select', ...chosen.map(name => `+${name}`)]
    for (const connection of ['acme', 'north', 'acme']) await dbt('run', ...select, ...variables(connection))
    expect(await differing()).toEqual([])
  },
)
