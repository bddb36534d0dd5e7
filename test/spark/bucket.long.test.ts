/** Spark reads a lake in a bucket through s3a, and writes marts beside it that equal those of DuckDB. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readMarts, withSources } from '../../src/marts/mart.ts'
import { sparkMarts } from '../../src/marts/spark/statements.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteNames } from '../../src/warehouse/sql-text.ts'
import { startS3, type TestBucket } from '../landing/bucket/s3-server.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { bucketJars, hasJava } from '../support/spark.ts'
import { publishMarts } from './published.ts'
import { submitMarts } from './submit.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-spark-bucket-'))
const worlds = { acme: useFilled({ scale: 0.02 }), north: useFilled({ scale: 0.02, seed: 2 }) }
const made = sparkMarts(readMarts())

/** A dimension, a mart of records, and one of sums. */
const wanted = ['dim_agency', 'open_demand', 'expense_summary']
const all = made.marts.map(({ mart }) => mart)
const names = new Set(withSources(all, wanted).map(({ name }) => name))
const tried = made.marts.filter(({ mart }) => names.has(mart.name))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Copies the files that Spark wrote of one connection; returns how many, and where they are. */
async function fetchFiles(
  bucket: TestBucket,
  mart: string,
  connection: string,
): Promise<{ readonly count: number; readonly at: string }> {
  const copy = join(folder, 'copy', mart, connection)
  mkdirSync(copy, { recursive: true })
  const keys = await bucket.keys(`out/mart/${mart}/connection=${connection}/`)
  const files = keys.filter(key => key.endsWith('.parquet'))
  for (const key of files) writeFileSync(join(copy, basename(key)), await bucket.read(key))
  return { count: files.length, at: copy }
}

/** A mart without rows has no file. */
async function differing(
  engine: Engine,
  name: string,
  { count, at }: Awaited<ReturnType<typeof fetchFiles>>,
): Promise<number> {
  const columns = tried.find(({ mart }) => mart.name === name)?.columns ?? []
  const compared = quoteNames([...columns.map(column => column.name), 'definition_id', 'as_of'])
  const own = `select ${compared} from mart.${quoteName(name)}`
  const files = `select ${compared} from read_parquet('${at}/*.parquet', hive_partitioning = false)`
  const other = count > 0 ? files : `${own} limit 0`
  const [row] = await engine.rows<{ n: number }>(
    `select count(*) as n from ((${own} except all (${other})) union all ((${other}) except all ${own}))`,
  )
  return Number(row?.n)
}

test.skipIf(!hasJava)(
  'marts of two connections are computed from a lake in a bucket, and written to the bucket',
  async () => {
    const s3 = await startS3()
    Object.assign(process.env, s3.env)
    const bucket = await s3.bucket()
    const place = { url: `s3://${bucket.name}/lake`, bucket: bucket.name, prefix: 'lake/', isOther: true }
    const engines = new Map<string, Engine>()
    for (const [connection, world] of Object.entries(worlds)) {
      const { engine } = await world.duckdb()
      engines.set(connection, engine)
      await publishMarts(engine, connection, { folder: dirname(folder), bucket: place })
    }
    await submitMarts({
      ...{ made, connections: Object.keys(worlds), folder, marts: wanted },
      lake: `s3a://${bucket.name}/lake`,
      out: `s3a://${bucket.name}/out`,
      jars: [bucketJars()],
      conf: {
        'spark.hadoop.fs.s3a.endpoint': s3.env.AWS_ENDPOINT_URL_S3 ?? '',
        'spark.hadoop.fs.s3a.path.style.access': 'true',
      },
    })
    const found: (readonly [string, string, number])[] = []
    for (const [connection, engine] of engines)
      for (const { mart } of tried) {
        const files = await fetchFiles(bucket, mart.name, connection)
        found.push([connection, mart.name, await differing(engine, mart.name, files)])
      }
    expect(found).toEqual(found.map(([connection, mart]) => [connection, mart, 0]))
    expect(found.length).toBe(2 * tried.length)
  },
)
