/** Spark computes the marts from a lake of two connections, cell by cell as DuckDB does. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readMarts, withSources } from '../../src/marts/mart.ts'
import { type SparkMart, sparkMarts } from '../../src/marts/spark/statements.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteNames } from '../../src/warehouse/sql-text.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { hasJava } from '../support/spark.ts'
import { publishMarts } from './published.ts'
import { submitMarts } from './submit.ts'

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
      await publishMarts(engine, connection, { folder: lake })
    }
    const connections = Object.keys(worlds)
    const stdout = await submitMarts({ made, connections, folder, lake, out, marts: wanted })
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
