/** Records as a single read answers them, landed as pages and loaded. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { LoadCounts } from '../../src/load/load-batch.ts'
import { loadOnce } from './loaded-pages.ts'
import type { Warehouse } from './warehouse-fixture.ts'

let answers = 0

/** One page a record, all in one batch, fetched a minute apart. */
export async function readById(
  { engine, landing }: Warehouse,
  resource: Resource,
  records: readonly object[],
): Promise<LoadCounts> {
  mkdirSync(landing, { recursive: true })
  const pages = records.map(record => {
    answers += 1
    const file = join(landing, `answer-${answers}.json`)
    const body = JSON.stringify({ success: true, data: record })
    writeFileSync(file, body)
    const fetchedAt = new Date(Date.UTC(2026, 10, 2, 9, answers)).toISOString()
    return { file, bytes: body.length, fetchedAt, runId: 'run-1', scope: {} }
  })
  return loadOnce(engine, resource, { pages, rows: 'data as one record' })
}
