/** Loads landed pages: stage, compare, merge, and the caller's ledger rows, in one transaction. */

import { type Undeclared, undeclaredPaths } from '../resources/undeclared.ts'
import type { Engine } from './engine.ts'
import { recordDrift } from './ledger/drift.ts'
import { keepQuarantine } from './ledger/quarantine.ts'
import { deltaStatements, runAll } from './merge/apply.ts'
import { type CompleteSnapshot, createDelta } from './merge/delta.ts'
import { type Readable, readablePages, recordsOf, unreadableAmong } from './page-repair.ts'
import { type Batch, dropStages, stageBatch } from './stage/batch.ts'
import type { PageFile } from './stage/pages.ts'
import type { StagePlan } from './stage/plan.ts'
import { unknownValues } from './stage/unknown-values.ts'

export interface LoadRequest {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  readonly rows: Batch['rows']
  /** Pages to search for undeclared fields: every field of every record would cost more than loading it. */
  readonly sampled: readonly PageFile[]
  /** Undeclared paths that earlier pages showed. */
  readonly drifted: ReadonlySet<string>
  /** Everything the scope holds, so that what is absent is gone. */
  readonly snapshot?: CompleteSnapshot
  /** Remembers which ids a window has seen. */
  readonly windowId?: string
  /** Ledger rows that must commit with the records. */
  readonly commit: (loaded: Loaded) => Promise<void>
}

export interface Loaded {
  readonly records: number
  readonly inserted: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  readonly quarantined: number
  /** Undeclared paths found on these pages for the first time. */
  readonly newDrift: readonly string[]
}

/** Undeclared fields on the sampled pages that earlier pages did not show. */
function findDrift({ plan, rows, sampled, drifted }: LoadRequest): Undeclared[] {
  const records = sampled.flatMap(page => recordsOf(page, rows))
  return undeclaredPaths(plan.root.table, records).filter(({ path }) => !drifted.has(path))
}

async function rememberIds(engine: Engine, request: LoadRequest): Promise<void> {
  const { windowId } = request
  if (windowId === undefined) return
  await engine.run(
    `insert into ops.window_id select $1, seen.id from stage_seen seen
     where not exists (select 1 from ops.window_id w where w.window_id = $1 and w.record_id = seen.id)`,
    [windowId],
  )
}

async function loadReadable(
  engine: Engine,
  request: LoadRequest,
  { trouble, hasBooleans }: Pick<Readable, 'trouble' | 'hasBooleans'>,
): Promise<Loaded> {
  const { plan, pages, rows } = request
  const drift = findDrift(request)
  const drifted = [...request.drifted, ...drift.map(row => row.path)]
  const excluded = trouble.map(({ locator }) => locator)
  const staged = await stageBatch(engine, plan, { pages, rows, drifted, excluded, hasBooleans })
  const values = unknownValues(plan.tables.filter(({ name }) => staged.filled.has(name)))
  const newValues = values ? await engine.rows<{ path: string; value: string }>(values) : []
  const counts = await createDelta(
    engine,
    plan.resource,
    request.snapshot ? { snapshot: request.snapshot } : {},
  )
  const statements = await deltaStatements(engine, plan, { counts, filled: staged.filled })
  const loaded: Loaded = {
    records: staged.records,
    inserted: counts.new + counts.stub,
    changed: counts.changed,
    removed: counts.gone,
    unchanged: counts.same + counts.stale,
    quarantined: staged.quarantined + trouble.length,
    newDrift: drift.map(row => row.path),
  }
  await engine.transaction(async () => {
    await runAll(engine, statements)
    await rememberIds(engine, request)
    await keepQuarantine(engine, { plan, pages, trouble, staged })
    await recordDrift(engine, plan.resource.name, {
      fields: drift,
      values: newValues,
      rounded: staged.rounded,
      page: pages[0],
    })
    await request.commit(loaded)
  })
  return loaded
}

/**
 * Rows, ledger and mark commit together or not at all. A page that is no JSON fails the load with PageUnreadable;
 * a record that no warehouse can hold goes to quarantine and the rest of its page loads.
 */
export async function load(engine: Engine, request: LoadRequest): Promise<Loaded> {
  return engine.exclusive(async () => {
    const readable = readablePages(request.pages, request.rows)
    const { pages } = readable
    try {
      const sampled = pages.filter((_, index) => request.sampled.includes(request.pages[index] as PageFile))
      return await loadReadable(engine, { ...request, pages, sampled }, readable)
    } catch (error) {
      throw unreadableAmong(pages) ?? error
    } finally {
      await engine.run(dropStages(request.plan))
      readable.cleanUp()
    }
  })
}
