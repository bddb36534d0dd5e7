/** Records of a test's own in a warehouse, without a request. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { loadOnce } from '../support/loaded-pages.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'

let files = 0

/** All records as one page. */
export async function loadRecords(
  { engine, landing }: Warehouse,
  name: string,
  records: readonly object[],
): Promise<void> {
  const resource = findResource(name) as Resource
  mkdirSync(landing, { recursive: true })
  files += 1
  const file = join(landing, `records-${files}.json`)
  const body = JSON.stringify({ success: true, data: records })
  writeFileSync(file, body)
  const page = { file, bytes: body.length, fetchedAt: '2026-11-02T09:00:00.000Z', runId: 'run-1', scope: {} }
  await loadOnce(engine, resource, { pages: [page], rows: 'data' })
}
