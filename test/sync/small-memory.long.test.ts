/** A batch that does not fit into the memory DuckDB may use is loaded in smaller ones, and everything is counted once. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { rowsTouched, syncOnce } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

/** Pages of 6 MB, two a batch, which DuckDB cannot stage together in 120 MB: batches wait for one that is loaded by halves. */
const total = 2_400
const long = 'x'.repeat(30_000)

test('a batch too large for memory', async () => {
  const { timesheets = [] } = plainRecords({ timesheets: total })
  const records = { timesheets: timesheets.map((one, at) => ({ ...one, reference: `${at}${long}` })) }
  const { url } = await openSandbox({ records })
  const folder = mkdtempSync(join(tmpdir(), 'muster-memory-'))
  const engine = await openDuckdb(join(folder, 'small.duckdb'), { memoryLimit: '120MB' })
  const nothing = async (): Promise<void> => undefined
  const warehouse = { engine, address: '', landing: join(folder, 'landing'), open: nothing, close: nothing }
  const outcome = await syncOnce({ url }, warehouse, { request: { resources: ['timesheets'] } })
  expect(outcome.failure).toBeUndefined()
  expect(rowsTouched(outcome)).toBe(total)
  const ledger = await engine.rows(
    `select cast(r.rows_inserted as integer) as inserted, cast(w.distinct_ids as integer) as ids, w.state
     from ops.run r, ops.scan w`,
  )
  expect(ledger).toEqual([{ inserted: total, ids: total, state: 'accepted' }])
  await engine.close()
})
