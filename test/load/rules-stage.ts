/** A DuckDB in memory for all tests of a file, in which pages of the tests' own are staged. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { knownFields } from '../../src/load/page/known-fields.ts'
import { defaultLimits, SeenPaths } from '../../src/load/page/record-limits.ts'
import { type StagedRows, stageBatch } from '../../src/load/read/batch.ts'
import { type PageTrouble, type ReadablePages, readablePages } from '../../src/load/read/page-repair.ts'
import type { PageFile, RowsAt } from '../../src/load/read/pages.ts'
import { type StagePlan, stagePlan } from '../../src/load/read/plan.ts'
import { openStage } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

type Row = Readonly<Record<string, unknown>>

export interface StagedPages extends StagedRows {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  /** The records that go to quarantine. */
  readonly trouble: readonly PageTrouble[]
  /** What the batch was staged with. */
  readonly statements: readonly string[]
}

export interface RulesStage {
  readonly engine: Engine
  readonly folder: string
  rows(sql: string): Promise<Row[]>
  /** Writes a page with these bytes. */
  page(text: string, parts?: Partial<PageFile>): PageFile
  /** A page of these records. */
  pageOf(records: readonly unknown[], parts?: Partial<PageFile>): PageFile
  /** Stages the pages of one batch. */
  stage(resource: Resource, pages: readonly PageFile[], rows?: RowsAt): Promise<StagedPages>
}

/** Pages made readable, as a load does it; the caller cleans up. */
const readable = (resource: Resource, pages: readonly PageFile[], rows: RowsAt): Promise<ReadablePages> =>
  readablePages({
    pages,
    rows,
    known: knownFields(resource.table),
    bounds: { limits: defaultLimits, seen: new SeenPaths(defaultLimits.paths, new Set()) },
  })

/** The engine, noting each statement that it is given. */
const noting = (engine: Engine, statements: string[]): Engine =>
  Object.assign(Object.create(engine), {
    run(sql: string) {
      statements.push(sql)
      return engine.run(sql)
    },
    rows(sql: string) {
      statements.push(sql)
      return engine.rows(sql)
    },
  })

export function rulesStage(): RulesStage {
  const folder = mkdtempSync(join(tmpdir(), 'muster-rules-'))
  let engine: Engine
  let count = 0
  const page = (text: string, parts: Partial<PageFile> = {}): PageFile => {
    count += 1
    const file = join(folder, 'pages', `${count}.json`)
    writeFileSync(file, text)
    const bytes = Buffer.byteLength(text)
    return { file, bytes, fetchedAt: '2026-05-01T00:00:00.000Z', runId: 'run-1', scope: {}, ...parts }
  }
  beforeAll(async () => {
    mkdirSync(join(folder, 'pages'), { recursive: true })
    engine = await openStage(join(folder, 'stage'))
    // As while pages are loaded; more threads cost half as much again.
    await engine.run('set threads = 1')
  })
  afterAll(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    get engine() {
      return engine
    },
    rows: sql => engine.rows<Row>(sql),
    page,
    pageOf: (records, parts) => page(JSON.stringify({ success: true, data: records }), parts),
    async stage(resource, pages, rows = 'data') {
      const plan = stagePlan(resource)
      const { trouble, cleanUp, ...read } = await readable(resource, pages, rows)
      const excluded = trouble.map(({ locator }) => locator)
      try {
        const statements: string[] = []
        const staged = await stageBatch(noting(engine, statements), plan, { ...read, rows, excluded })
        return { plan, ...staged, pages: read.pages, trouble, statements }
      } finally {
        cleanUp()
      }
    },
  }
}
