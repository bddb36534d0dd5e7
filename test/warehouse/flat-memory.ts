/**
 * Loads batches of a wide table as syncs do, and prints the memory of the process after each hundred thousand rows, in MB:
 * `flat-memory.ts FILE`. All values of a column are alike, so that what grows is what DuckDB keeps of row groups.
 */
import { readFileSync } from 'node:fs'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'

const rows = 8_192
const columns = 300
const [file = ''] = process.argv.slice(2)

const anonymousMegabytes = (): number =>
  Math.round(Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024)

const engine = await openDuckdb(file, { memoryLimit: '120MB' })
const values = Array.from({ length: columns }, (_, at) => `${at} as c${at}`)
await engine.run(`create table wide as select 0 as n, ${values.join(', ')} limit 0`)
for (let batch = 1; batch <= 100; batch += 1) {
  await engine.staging(async connection => {
    await connection.run(
      `create or replace table stage.batch as select range as n, ${values.join(', ')} from range(${rows})`,
    )
    await connection.merge(inside => inside.run('insert into wide from stage.batch'))
    await connection.run('drop table stage.batch')
  })
  if (batch % 12 === 0) console.log(anonymousMegabytes())
}
await engine.close()
