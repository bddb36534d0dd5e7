/** Loads landed pages: stage, compare, merge, and the caller's ledger rows, in one transaction. */

import { type Undeclared, undeclaredPaths } from '../resources/undeclared.ts'
import type { Engine, SharedColumn } from './engine.ts'
import { recordDrift } from './ledger/drift.ts'
import { keepQuarantine } from './ledger/quarantine.ts'
import { applyDelta } from './merge/apply.ts'
import { type CompleteSnapshot, createDelta, type DeltaCounts } from './merge/delta.ts'
import { type PageTrouble, readablePages, recordsOf, unreadableAmong } from './page-repair.ts'
import { type Batch, dropStages, type Staged, stageBatch } from './stage/batch.ts'
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

const seenColumns: readonly SharedColumn[] = [{ name: 'id', sql: 'text' }]

function outcome(counts: DeltaCounts, { records }: Staged): Omit<Loaded, 'quarantined' | 'newDrift'> {
  return {
    records,
    inserted: counts.new + counts.stub,
    changed: counts.changed,
    removed: counts.gone,
    unchanged: counts.same + counts.stale,
  }
}

async function loadReadable(
  engine: Engine,
  request: LoadRequest,
  trouble: readonly PageTrouble[],
): Promise<Loaded> {
  const { plan, pages, rows } = request
  const drift = findDrift(request)
  const drifted = [...request.drifted, ...drift.map(row => row.path)]
  const excluded = trouble.map(({ locator }) => locator)
  const staged = await stageBatch(engine.stage, plan, { pages, rows, drifted, excluded })
  const values = unknownValues(plan.tables.filter(({ name }) => staged.filled.has(name)))
  const newValues = values ? await engine.stage.rows<{ path: string; value: string }>(values) : []
  return engine.merge(async () => {
    if (request.windowId !== undefined || request.snapshot) await engine.share('stage_seen', seenColumns)
    const counts = await createDelta(engine, plan.resource, request)
    await applyDelta(engine, plan, { counts, filled: staged.filled })
    await rememberIds(engine, request)
    await keepQuarantine(engine, { plan, pages, trouble, staged })
    await recordDrift(engine, plan.resource.name, {
      fields: drift,
      values: newValues,
      rounded: staged.rounded,
      page: pages[0],
    })
    const loaded = {
      ...outcome(counts, staged),
      quarantined: staged.quarantined + trouble.length,
      newDrift: drift.map(row => row.path),
    }
    await request.commit(loaded)
    return loaded
  })
}

/**
 * Rows, ledger and mark commit together or not at all. A page that is no JSON fails the load with PageUnreadable;
 * a record that no warehouse can hold goes to quarantine and the rest of its page loads.
 */
export async function load(engine: Engine, request: LoadRequest): Promise<Loaded> {
  return engine.exclusive(async () => {
    const { pages, trouble, cleanUp } = readablePages(request.pages, request.rows)
    try {
      const sampled = pages.filter((_, index) => request.sampled.includes(request.pages[index] as PageFile))
      return await loadReadable(engine, { ...request, pages, sampled }, trouble)
    } catch (error) {
      throw unreadableAmong(pages) ?? error
    } finally {
      await engine.stage.run(dropStages(request.plan))
      cleanUp()
    }
  })
}
