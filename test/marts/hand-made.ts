/** Rows of star written by hand, and a mart built from them: cases whose result is known beforehand. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteName, quoteText } from '../../src/warehouse/sql-text.ts'
import { templateFile } from '../support/warehouse-fixture.ts'

type Row = Readonly<Record<string, string | number | boolean | null>>

const literal = (value: Row[string] | undefined): string =>
  typeof value === 'string' ? quoteText(value) : String(value ?? null)

const written = new Set<string>()

/** One DuckDB file for the tests of a file: each begins without what those before it have put there. */
export function useHandMade(): () => Engine {
  const folder = mkdtempSync(join(tmpdir(), 'muster-hand-made-'))
  let engine: Engine
  beforeAll(async () => {
    const file = join(folder, 'hand-made.duckdb')
    copyFileSync(await templateFile(), file)
    engine = await openDuckdb(file)
  })
  beforeEach(async () => {
    for (const table of written) await engine.run(`delete from star.${quoteName(table)}`)
    written.clear()
  })
  afterAll(async () => {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => engine
}

/** Columns that a row leaves out are null; none is deleted unless it says so. */
export async function put(engine: Engine, table: string, rows: readonly Row[]): Promise<void> {
  written.add(table)
  const columns = [...new Set(['is_deleted', 'valid_from', ...rows.flatMap(row => Object.keys(row))])]
  const values = rows.map(row => {
    const began = row.valid_from ?? row.source_updated_at ?? null
    const complete: Row = { is_deleted: false, ...row, valid_from: began }
    return `(${columns.map(column => literal(complete[column])).join(', ')})`
  })
  await engine.run(
    `insert into star.${quoteName(table)} (${columns.map(quoteName).join(', ')}) values ${values.join(', ')}`,
  )
}

let runs = 0

/** Builds the mart, and those that it reads, as on that day. */
export async function buildAt(engine: Engine, name: string, today = '2026-11-02'): Promise<void> {
  runs += 1
  const outcome = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(`${today}T09:00:00Z`) + runs, sleep: async () => undefined },
      rng: seededRng(runs),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: [name], all: true },
  )
  const failed = outcome.marts.find(({ state }) => state !== 'built')
  if (failed) throw new Error(`${failed.name}: ${failed.message}`)
}

/** YYYY-MM-DD, so many days later. */
export const day = (from: string, days: number): string =>
  new Date(Date.parse(`${from}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
