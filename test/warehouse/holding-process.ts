/** Opens a DuckDB file, says so, and closes it when its input ends: `holding-process.ts FILE "to read"`, or `"to write"` a row. */
import { DuckDBInstance } from '@duckdb/node-api'

const [file = '', how] = process.argv.slice(2)
const isRead = how === 'to read'
const instance = await DuckDBInstance.create(file, isRead ? { access_mode: 'READ_ONLY' } : {})
const connection = await instance.connect()
if (!isRead) await connection.run('insert into t values (2)')
console.log('open')
for await (const _ of process.stdin);
connection.closeSync()
instance.closeSync()
