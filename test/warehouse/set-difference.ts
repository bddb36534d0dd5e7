/** Two warehouses too large to be read into memory, compared as sets of rows: in DuckDB, which reads both. */
import { comparedTables, selectOf } from '../support/compared-warehouses.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'

interface Difference {
  readonly table: string
  readonly rows: number
}

interface Comparison {
  readonly tables: number
  readonly rows: number
  readonly cells: number
  /** Tables with rows that are in one warehouse only. */
  readonly found: readonly Difference[]
}

/** Rows of either side that the other does not hold as often. Closes the file, which is read beside the server's rows. */
export async function differences(duckdb: Warehouse, postgres: Warehouse): Promise<Comparison> {
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
  let [rows, cells] = [0, 0]
  const found: Difference[] = []
  for (const table of tables) {
    const columns = table.columns.map(name => ({
      name,
      sql: typeOf.get(`${table.schema}.${table.name}.${name}`) ?? '',
    }))
    await postgres.engine.sendToStage('held', columns, selectOf(table))
    const other = selectOf(table).replace(` from ${table.schema}.`, ` from other.${table.schema}.`)
    const [row] = await stage.rows<{ held: number; missing: number; extra: number }>(
      `select (select count(*) from held) as held,
         (select count(*) from (${other} except all select * from held)) as missing,
         (select count(*) from (select * from held except all ${other})) as extra`,
    )
    rows += Number(row?.held)
    cells += Number(row?.held) * columns.length
    const differ = Number(row?.missing) + Number(row?.extra)
    if (differ > 0) found.push({ table: `${table.schema}.${table.name}`, rows: differ })
  }
  return { tables: tables.length, rows, cells, found }
}
