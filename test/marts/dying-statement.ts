/** A build that dies by SIGKILL after some statement: `dying-statement.ts ADDRESS NOW STATEMENT`; ends with 0 when it has fewer. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { wrappedEngine } from '../support/wrapped-engine.ts'
import { build } from './complete-rows.ts'

const [address = '', now = '', last = ''] = process.argv.slice(2)
const engine = address.startsWith('duckdb:')
  ? await openDuckdb(address.slice('duckdb:'.length))
  : await openPostgres(
      { url: address, shown: 'test' },
      { scratch: join(tmpdir(), `muster-dying-${process.pid}`) },
    )
let statements = 0
const dying = wrappedEngine(engine, inner => ({
  async run(sql, values) {
    const changed = await inner.run(sql, values)
    statements += 1
    if (statements === Number(last)) process.kill(process.pid, 'SIGKILL')
    return changed
  },
}))
await build(dying, Number(now))
await engine.close()
