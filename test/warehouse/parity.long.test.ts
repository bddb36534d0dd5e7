/** The same at full size, where rows are compared as sets: in DuckDB, which reads both. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { comparedTables, selectOf, syncBoth } from './compared.ts'
import { useEngines, type Warehouse } from './fixture.ts'

const engines = useEngines()

interface Difference {
  readonly table: string
  readonly rows: number
}

/** Rows of either side that the other does not hold as often. */
async function differences(duckdb: Warehouse, postgres: Warehouse) {
  const tables = await comparedTables(duckdb.engine)
  const types = await duckdb.engine.rows<{ at: string; type: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as at, data_type as type
     from information_schema.columns where table_catalog = current_database()`,
  )
  const typeOf = new Map(types.map(({ at, type }) => [at, type]))
  await duckdb.close()
  const { stage } = postgres.engine
  // Millions of wide rows are compared at once, which a load never does.
  await stage.run(`set memory_limit = '4GB'`)
  await stage.run(`attach '${duckdb.address.replace('duckdb:', '')}' as other (read_only)`)
  let rows = 0
  const found: Difference[] = []
  for (const table of tables) {
    const columns = table.columns.map(name => ({
      name,
      sql: typeOf.get(`${table.schema}.${table.name}.${name}`) ?? '',
    }))
    await postgres.engine.lend('held', columns, selectOf(table))
    const other = selectOf(table).replace(` from ${table.schema}.`, ` from other.${table.schema}.`)
    const [row] = await stage.rows<{ held: number; missing: number; extra: number }>(
      `select (select count(*) from held) as held,
         (select count(*) from (${other} except all select * from held)) as missing,
         (select count(*) from (select * from held except all ${other})) as extra`,
    )
    rows += Number(row?.held)
    const differ = Number(row?.missing) + Number(row?.extra)
    if (differ > 0) found.push({ table: `${table.schema}.${table.name}`, rows: differ })
  }
  return { rows, found }
}

test.each([1, 20])('scale %d: 0 rows differ', async scale => {
  const sandbox = await openSandbox({ scale, rateLimitPerDay: 10_000_000 })
  const [duckdb, postgres] = [await engines.duckdb(), await engines.postgres()]
  await syncBoth(sandbox, [duckdb, postgres], 500 * scale)
  const { rows, found } = await differences(duckdb, postgres)
  console.log(`scale ${scale}: ${rows} rows compared, ${found.length} tables differ`)
  expect(found).toEqual([])
  expect(rows).toBeGreaterThan(50_000 * scale)
})
