/** Spark reads the rows, types and an earlier version of a lake. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LakeSnapshot } from '../../src/lake/snapshots.ts'
import { type LakeStore, openLake } from '../../src/lake/store.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { hasJava, sparkPlace } from '../support/spark.ts'
import { publishTo } from './lake-of.ts'

const filled = useFilled({ scale: 0.05 })
const folder = mkdtempSync(join(tmpdir(), 'muster-spark-'))
const reader = fileURLToPath(new URL('read-spark.py', import.meta.url))
let engine: Engine
let store: LakeStore
let python: string
let jars: string

beforeAll(async () => {
  if (!hasJava) return
  const spark = sparkPlace()
  python = join(spark.environment, 'bin/python')
  jars = spark.jars
  store = openLake({ folder: join(folder, 'lake') })
  engine = (await filled.duckdb()).engine
}, 1_800_000)

afterAll(() => {
  store?.close()
  rmSync(folder, { recursive: true, force: true })
})

function read({ connection, run }: LakeSnapshot) {
  const out = mkdtempSync(join(folder, 'read-'))
  const manifest = `${store.where}/_muster/snapshots/${connection}/${run}.json`
  const options = { encoding: 'utf8', env: { ...process.env, PYSPARK_PYTHON: python } } as const
  const text = execFileSync(python, [reader, jars, store.where, connection, manifest, out], options)
  return { out, facts: JSON.parse(text) as Record<string, { readonly columns: readonly string[] }> }
}

async function expectEqual(name: string, parquet: string): Promise<void> {
  const stored = `select * exclude (connection) from read_parquet('${parquet}/*.parquet')`
  const columns = await engine.rows<{ name: string }>(
    `select column_name as name from (describe ${stored}) where column_type not in ('TIME')`,
  )
  const names = columns.map(column => `cast("${column.name}" as varchar)`).join(', ')
  const both = [`select ${names} from ${name}`, `select ${names} from (${stored})`]
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ((${both[0]} except all ${both[1]}) union all (${both[1]} except all ${both[0]}))`,
  )
  expect([name, Number(row?.n)]).toEqual([name, 0])
}

test.skipIf(!hasJava)(
  'Spark reads every table as it is in the warehouse, and as of an earlier snapshot',
  async () => {
    const first = await publishTo(store, engine, { schemas: ['star'], maxRows: 100 })
    const sql = 'select cast(sum(pay_total) as varchar) as pay from star.fact_timesheet'
    const [before] = await engine.rows<{ pay: string }>(sql)
    const changed = `update star.fact_timesheet set pay_total = pay_total + 1 where timesheet_id = (select max(timesheet_id) from star.fact_timesheet)`
    await engine.run(changed)
    const later = await publishTo(store, engine, { schemas: ['star'], maxRows: 100 })
    const { out, facts } = read(later.snapshot)
    for (const name of Object.keys(later.snapshot.tables))
      await expectEqual(name, join(out, `${name}.parquet`))
    expect(facts['star.fact_timesheet']?.columns).toEqual(
      expect.arrayContaining(['connection string', 'pay_total decimal(18,4)', 'created_at timestamp']),
    )
    const earlier = join(read(first.snapshot).out, 'star.fact_timesheet.parquet')
    const [read1] = await engine.rows<{ pay: string }>(
      `select cast(sum(pay_total) as varchar) as pay from read_parquet('${earlier}/*.parquet')`,
    )
    expect(read1?.pay).toBe(before?.pay)
  },
)
