/** Spark computes the marts from a lake of two connections, cell by cell as DuckDB does. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { readMarts, withSources } from '../../src/marts/mart.ts'
import { type SparkMart, sparkMarts } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteNames } from '../../src/warehouse/sql-text.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { hasJava, sparkPlace } from '../support/spark.ts'
import { publishMarts } from './published.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-spark-marts-'))
const lake = join(folder, 'lake')
const out = join(folder, 'out')
const worlds = { acme: useFilled({ scale: 0.02 }), north: useFilled({ scale: 0.02, seed: 2 }) }
const made = sparkMarts(readMarts())
const all = made.marts.map(({ mart }) => mart)
/** Names with commas between, to try a few, with those that they read: all take minutes. */
const wanted = process.env.MUSTER_TEST_MARTS?.split(',') ?? all.map(({ name }) => name)
const names = new Set(withSources(all, wanted).map(({ name }) => name))
const tried = made.marts.filter(({ mart }) => names.has(mart.name))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Few rows: what takes time is compiling and planning. */
const settings = {
  'spark.sql.shuffle.partitions': '1',
  'spark.sql.codegen.wholeStage': 'false',
  'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
  'spark.sql.adaptive.enabled': 'false',
  'spark.databricks.delta.snapshotPartitions': '1',
  'spark.databricks.delta.stats.collect': 'false',
  'spark.ui.enabled': 'false',
}

/** The default of a compiler in one tier is full before all marts are planned, and Java goes on without a compiler. */
const codeCache = '-XX:ReservedCodeCacheSize=400m'

function computeMarts(): string {
  const { environment, jars } = sparkPlace()
  const files = sparkFiles(
    made,
    Object.keys(worlds).map(name => ({ name, days: defaultDays, fiscalMonth: 4 })),
  )
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const conf = Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`])
  const java = ['--driver-memory', '2g', '--driver-java-options', `-XX:TieredStopAtLevel=1 ${codeCache}`]
  const few = wanted.flatMap(name => ['--mart', name])
  const given = ['--lake', lake, '--out', out, '--today', filledAt.slice(0, 10), ...few]
  const spark = ['--master', 'local[2]', '--jars', jars, ...java, ...conf, join(folder, 'run.py'), ...given]
  const { stdout, stderr, status } = spawnSync(join(environment, 'bin/spark-submit'), spark, {
    encoding: 'utf8',
    env: { ...process.env, PYSPARK_PYTHON: join(environment, 'bin/python') },
    maxBuffer: 2 ** 28,
  })
  // spark-submit gives what a Python program says on either stream out as its output.
  const said = `${stdout}\n${stderr}`.split('\n').filter(line => !/written in/.test(line))
  const failures = said.filter(line => /^(?:acme|north)\b|(?:Error|Exception):/.test(line))
  expect([status, failures]).toEqual([0, []])
  return stdout
}

/** Rows in which the two differ, without the time of the build. */
async function differing(engine: Engine, { mart, columns }: SparkMart, connection: string): Promise<number> {
  const names = quoteNames([...columns.map(({ name }) => name), 'definition_id', 'as_of'])
  const place = `${out}/mart/${mart.name}/connection=${connection}`
  const own = `select ${names} from mart.${quoteName(mart.name)}`
  const other = `select ${names} from read_parquet('${place}/*.parquet', hive_partitioning = false)`
  const sql = existsSync(place)
    ? `select count(*) as n from ((${own} except all ${other}) union all (${other} except all ${own}))`
    : `select count(*) as n from (${own})`
  const [row] = await engine.rows<{ n: number }>(sql)
  return Number(row?.n)
}

test.skipIf(!hasJava)(
  'every mart that is written for Spark has the rows of DuckDB, of two connections',
  async () => {
    const engines = new Map<string, Engine>()
    for (const [connection, world] of Object.entries(worlds)) {
      const { engine } = await world.duckdb()
      engines.set(connection, engine)
      await publishMarts(engine, connection, lake)
    }
    const stdout = computeMarts()
    expect(stdout.match(/written in/g)).toHaveLength(tried.length * engines.size)
    const wrong: string[] = []
    for (const [connection, engine] of engines)
      for (const one of tried) {
        const rows = await differing(engine, one, connection)
        if (rows > 0) wrong.push(`${connection} mart.${one.mart.name}: ${rows} rows differ`)
      }
    expect(wrong).toEqual([])
    expect(made.leftOut.map(({ name }) => name)).toEqual(['alert', 'data_health', 'request_budget'])
  },
)
