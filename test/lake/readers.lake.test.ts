/** Other engines read the same rows, sums and types from a lake that a DuckDB file and a PostgreSQL server share. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LakeSnapshot } from '../../src/lake/snapshots.ts'
import { type LakeStore, openLake } from '../../src/lake/store.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { pythonEnvironment } from '../support/python-environment.ts'
import { publishTo } from './lake-of.ts'

const filled = useFilled({ scale: 0.05 })
const folder = mkdtempSync(join(tmpdir(), 'muster-lake-'))
const reader = fileURLToPath(new URL('read-lake.py', import.meta.url))
const wanted = ['deltalake==1.6.6', 'polars==2.1.0', 'pyarrow==26.0.1']
let file: Engine
let server: Engine
let store: LakeStore
let python: string

beforeAll(async () => {
  python = join(pythonEnvironment({ name: 'lake-readers', wanted, program: 'python' }), 'bin/python')
  store = openLake({ folder: join(folder, 'lake') })
  file = (await filled.duckdb()).engine
  server = (await filled.postgres()).engine
  await buildAll(file)
  // The copy on the server has the runs of the file that it was copied from.
  await server.run(
    `update ops.run set run_id = '20200101T000000000Z-abcd' where run_id = (select min(run_id) from ops.run)`,
  )
}, 1_800_000)

afterAll(() => {
  store?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface TableFacts {
  readonly columns: readonly string[]
  readonly comment: string
  readonly history: number
  readonly polars: number
  readonly sums: Readonly<Record<string, string>>
}

function read({ connection, run }: LakeSnapshot): { out: string; facts: Record<string, TableFacts> } {
  const out = mkdtempSync(join(folder, 'read-'))
  const manifest = `${store.where}/_muster/snapshots/${connection}/${run}.json`
  const text = execFileSync(python, [reader, store.where, connection, manifest, out], { encoding: 'utf8' })
  return { out, facts: JSON.parse(text) as Record<string, TableFacts> }
}

/** Number of rows in which a table of the warehouse and what was read differ. */
async function differing(engine: Engine, name: string, parquet: string): Promise<number> {
  const columns = await engine.stage.rows<{ name: string; type: string }>(
    `select column_name as name, column_type as type from (describe select * exclude (connection) from read_parquet('${parquet}'))`,
  )
  const names = columns.map(column => `"${column.name}"`).join(', ')
  const typed = columns.map(({ name, type }) => ({ name, sql: type }))
  let count = -1
  await engine.rowsInStage(typed, `select ${names} from ${name}`, async rows => {
    const both = [`select ${names} from (${rows})`, `select ${names} from read_parquet('${parquet}')`]
    const [row] = await engine.stage.rows<{ n: number }>(
      `select count(*) as n from ((${both[0]} except all ${both[1]}) union all (${both[1]} except all ${both[0]}))`,
    )
    count = Number(row?.n)
  })
  return count
}

async function expectEqual(engine: Engine, snapshot: LakeSnapshot): Promise<Record<string, TableFacts>> {
  const { out, facts } = read(snapshot)
  expect(Object.keys(facts)).toEqual(Object.keys(snapshot.tables))
  for (const [name, { rows, sums }] of Object.entries(snapshot.tables)) {
    const found = facts[name]
    expect([name, found?.columns[0], found?.polars]).toEqual([name, 'connection', rows])
    for (const [column, sum] of Object.entries(sums))
      expect([name, column, Number(found?.sums[column])]).toEqual([name, column, Number(sum)])
    expect([name, await differing(engine, name, join(out, `${name}.parquet`))]).toEqual([name, 0])
  }
  return facts
}

test('deltalake and polars read every table as it is in both warehouses, and an earlier state after a later one', async () => {
  const first = await publishTo(store, file, { maxRows: 100 })
  const other = await publishTo(store, server, { connection: 'north', schemas: ['star'] })
  const facts = await expectEqual(file, first.snapshot)
  expect(facts['star.fact_timesheet']).toMatchObject({ history: 2, comment: expect.stringMatching(/\w+/) })
  await expectEqual(server, other.snapshot)
  await file.run(`update star.fact_timesheet set reference = 'TS-changed'`)
  const later = await publishTo(store, file, { maxRows: 100 })
  expect(later.filesWritten).toBeGreaterThan(0)
  const facts2 = await expectEqual(file, later.snapshot)
  expect(facts2['star.fact_timesheet']?.history).toBe(3)
  // The first snapshot still reads as it was.
  expect(read(first.snapshot).facts['star.fact_timesheet']?.sums).toEqual(facts['star.fact_timesheet']?.sums)
  await expectEqual(server, other.snapshot)
})
