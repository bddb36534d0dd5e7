/** Typed reading and reading as JSON make the same rows, and only a misfit makes a batch fall back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import { DiskFull, OutOfMemory } from '../../src/lib/errors.ts'
import { type Staged, stageBatch } from '../../src/load/read/batch.ts'
import { childStage } from '../../src/load/read/lists.ts'
import { jsonReader, type PageFile, type Reader, typedReader } from '../../src/load/read/pages.ts'
import { isWhollyTyped, type StagePlan, stagedSources, stagePlan } from '../../src/load/read/plan.ts'
import { rootStage } from '../../src/load/read/root.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { versionsOf } from './arrival.ts'
import { recordOf } from './full-record.ts'
import { wrappedEngine } from './wrapped-engine.ts'

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

/** Every stage of the resource as rows, the columns that the reader itself keeps left out. */
async function stages(plan: StagePlan, pages: readonly PageFile[], reader: Reader): Promise<unknown> {
  const rows: Record<string, unknown[]> = {}
  for (const stage of plan.tables) {
    await engine.run(stage.parent ? childStage(plan, stage, reader) : rootStage(plan, pages, reader))
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
  const source = { pages, rows: rowsAt(plan.resource), hasBooleans: true }
  const careful = await stages(plan, pages, jsonReader(source))
  expect(await stages(plan, pages, typedReader(source))).toEqual(careful)
  expect(await stages(plan, pages, typedReader({ ...source, hasBooleans: false }))).toEqual(careful)
})

/** A batch of one page of timesheets, on an engine that may fail. */
function stageTimesheets(on: Engine, records: readonly object[]): Promise<Staged> {
  const plan = plans.find(({ resource }) => resource.name === 'timesheets') as StagePlan
  const pages = [page(plan.resource, records)]
  return stageBatch(on, plan, { pages, rows: 'data', leaves: undefined, hasBooleans: true, excluded: [] })
}

/** An engine on which typed reading fails. */
const failing = (error: Error): { engine: Engine; asJson: () => number } => {
  let asJson = 0
  const broken = wrappedEngine(engine, inner => ({
    async rows(sql, values) {
      if (sql.includes('read_json') && sql.includes('STRUCT(')) {
        if (!sql.includes('try_cast(j as ')) throw error
        asJson += 1
      }
      return inner.rows(sql, values)
    },
  }))
  return { engine: broken, asJson: () => asJson }
}

test('a batch that fits its type is not read as JSON', async () => {
  expect(await stageTimesheets(engine, [{ id: 't1' }])).toMatchObject({ records: 1, isReadAsJson: false })
})

test('a batch that does not fit its type is read as JSON, and says so', async () => {
  const misfits = [{ id: 't1' }, { id: 't2', timelogs: 'none' }]
  expect(await stageTimesheets(engine, misfits)).toMatchObject({
    records: 2,
    quarantined: 1,
    isReadAsJson: true,
  })
})

test.each([
  new DiskFull({ what: 'the disk is full' }),
  new OutOfMemory({ what: 'the rows do not fit' }),
  new Error('IO Error: Could not read from file'),
  new Error('Binder Error: a column is missing'),
])('another failure of the typed reading is reported as what it is: $message', async error => {
  const broken = failing(error)
  await expect(stageTimesheets(broken.engine, [{ id: 't1' }])).rejects.toBe(error)
  expect(broken.asJson()).toBe(0)
})
