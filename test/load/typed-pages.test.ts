/** Typed reading and reading as JSON make the same rows. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import { childStage } from '../../src/load/read/lists.ts'
import { jsonReader, type PageFile, type PageReader, typedReader } from '../../src/load/read/pages.ts'
import {
  isWhollyTyped,
  type ListStage,
  type StagePlan,
  type StageTable,
  stagedSources,
  stagePlan,
} from '../../src/load/read/plan.ts'
import { rootStage } from '../../src/load/read/root.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { versionsOf } from './arrival.ts'
import { recordOf } from './full-record.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-reader-'))
let engine: Engine
beforeAll(async () => {
  engine = await openDuckdb(join(folder, 'reader.duckdb'))
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The records of one page, in the envelope that the resource answers with. */
function page(resource: Resource, records: readonly object[]): PageFile {
  const rows = rowsAt(resource)
  const list = { data: records, 'data.entries': { entries: records }, 'data as one record': records[0] }
  const text = JSON.stringify({ success: true, data: list[rows] })
  const file = join(folder, `${resource.name}.json`)
  writeFileSync(file, text)
  return { file, bytes: text.length, fetchedAt: '2026-03-01T09:00:00.000Z', runId: 'r', scope: {} }
}

const hasOrigin = (stage: StageTable): stage is ListStage => stage.origin !== undefined

/** Every stage of the resource as rows, the columns that the reader itself keeps left out. */
async function stages(plan: StagePlan, pages: readonly PageFile[], reader: PageReader): Promise<unknown> {
  const rows: Record<string, unknown[]> = {}
  for (const stage of plan.tables) {
    await engine.run(hasOrigin(stage) ? childStage(plan, stage, reader) : rootStage(plan, pages, reader))
    const names = [...stagedSources(stage.table).map(([name]) => `"${name}"`), 'locator', 'own_hash']
    rows[stage.table.name] = await engine.rows(
      `select ${names.join(', ')} from ${stage.name} order by own_hash`,
    )
  }
  return rows
}

/** Every list has two elements, so that no row is taken for its neighbour. */
function doubled(value: unknown): unknown {
  if (Array.isArray(value)) return [...value.map(doubled), ...value.map(doubled)]
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, doubled(inner)]))
}

const plans = catalogue.map(stagePlan).filter(isWhollyTyped)

test('most resources have a shape that one type holds', () => {
  expect(plans.map(({ resource }) => resource.name)).toEqual(
    expect.arrayContaining(['timesheets', 'expenses', 'invoices', 'users']),
  )
})

test.each(plans.map(plan => [plan.resource.name, plan] as const))('%s', async (_, plan) => {
  const [first, second] = versionsOf(plan.resource).map(recordOf)
  const many = rowsAt(plan.resource) !== 'data as one record'
  const pages = [
    page(plan.resource, many ? [first!, doubled(second) as object, {}] : [doubled(second) as object]),
  ]
  const source = { pages, rows: rowsAt(plan.resource), hasLong: true }
  const careful = await stages(plan, pages, jsonReader(source))
  expect(await stages(plan, pages, typedReader(source))).toEqual(careful)
  expect(await stages(plan, pages, typedReader({ ...source, hasLong: false }))).toEqual(careful)
})
