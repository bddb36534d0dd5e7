/** A whole filled warehouse on PostgreSQL exports the same cells as on DuckDB. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type ExportManifest, exportParquet } from '../../src/publish/export/export.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { digestOf, filesIn } from './exported-cells.ts'

const filled = useFilled()
const root = mkdtempSync(join(tmpdir(), 'muster-export-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }

const exported = (engine: Engine): Promise<ExportManifest> =>
  exportParquet(
    { engine, clock, signal: new AbortController().signal, version: 'test', onTable: () => undefined },
    { folder: join(root, engine.kind), includePii: true, monthRows: 300 },
  )

test('cell by cell, pii included', { timeout: 120_000 }, async () => {
  const [file, server] = [await filled.duckdb(), await filled.postgres()]
  const [one, other] = [await exported(file.engine), await exported(server.engine)]
  expect(one.tables.length).toBeGreaterThan(130)
  expect(await digestOf(file.engine, filesIn(other, join(root, 'postgres')))).toEqual(
    await digestOf(file.engine, filesIn(one, join(root, 'duckdb'))),
  )
})
