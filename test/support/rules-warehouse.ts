/** One DuckDB warehouse for all tests of a file, in memory where there is some: for rules that SQL decides. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { LoadCounts, PageBatch } from '../../src/load/load-batch.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { loadOnce } from './loaded-pages.ts'
import { templateFile } from './warehouse-fixture.ts'

type Row = Readonly<Record<string, unknown>>

export interface RulesWarehouse {
  readonly engine: Engine
  rows(sql: string): Promise<Row[]>
  /** Loads one page of records, fetched at this time. */
  load(
    resource: Resource,
    records: readonly object[],
    parts?: Partial<PageBatch> & { at?: string },
  ): Promise<LoadCounts>
}

export const resourceOf = (name: string): Resource => findResource(name) as Resource

export function rulesWarehouse(): RulesWarehouse {
  let folder: string
  let engine: Engine
  let pages = 0
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'muster-rules-'))
    const file = join(folder, 'rules.duckdb')
    copyFileSync(await templateFile(), file)
    engine = await openDuckdb(file)
    mkdirSync(join(folder, 'pages'))
  })
  afterAll(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    get engine() {
      return engine
    },
    rows: sql => engine.rows<Row>(sql),
    load(resource, records, { at = '2026-05-01T00:00:00.000Z', ...parts } = {}) {
      pages += 1
      const file = join(folder, 'pages', `${pages}.json`)
      const body = JSON.stringify({ success: true, data: records, meta: { total: records.length } })
      writeFileSync(file, body)
      const page = { file, bytes: body.length, fetchedAt: at, runId: 'run-1', scope: {} }
      return loadOnce(engine, resource, { pages: [page], rows: 'data', ...parts })
    },
  }
}
