/** What DuckDB takes to open a warehouse, ask it, write a row and close it: `open-floor.ts FILE`. */
import { DuckDBInstance } from '@duckdb/node-api'

const [file = ''] = process.argv.slice(2)
// As the product does: else the checkpoint gives space back for three seconds.
const settings = { preserve_insertion_order: 'false', max_vacuum_tasks: '0' }
const instance = await DuckDBInstance.create(':memory:', settings)
const connection = await instance.connect()
await connection.run(`attach '${file}' as warehouse`)
await connection.run('use warehouse')
await connection.run('select count(*), max(source_updated_at) from star.fact_timesheet')
await connection.run(`update ops.run set message = 'floor' where run_id = (select max(run_id) from ops.run)`)
await connection.run('checkpoint')
connection.closeSync()
instance.closeSync()
