/** Loads landed pages: stage, compare, merge, and the caller's ledger rows, in one transaction. */

import { type Undeclared, undeclaredPaths } from '../contract/derived/undeclared.ts'
import { Unconfirmed } from '../lib/errors.ts'
import { recordDrift } from '../state/evidence/drift.ts'
import { openCases } from '../state/evidence/open-cases.ts'
import { keepQuarantine, quarantineTables } from '../state/evidence/quarantine.ts'
import type { Engine, Transfer } from '../warehouse/engine.ts'
import { applyMembers, arrivalsOf, makeRoom } from './merge/apply.ts'
import { type CompleteSnapshot, createDelta, type DeltaCounts, sendRecords } from './merge/delta.ts'
import { recordSightings } from './merge/sightings.ts'
import { type Batch, dropStages, type Staged, stageBatch } from './read/batch.ts'
import {
  type PageTrouble,
  type Readable,
  readablePages,
  recordsOf,
  unreadableAmong,
} from './read/page-repair.ts'
import type { PageFile } from './read/pages.ts'
import type { StagePlan } from './read/plan.ts'
import { unknownValues } from './read/unknown-values.ts'

export interface LoadRequest {
  readonly plan: StagePlan
  readonly pages: readonly PageFile[]
  readonly rows: Batch['rows']
  /** Pages to search for undeclared fields: every field of every record would cost more than loading it. */
  readonly sampled: readonly PageFile[]
  /** Undeclared paths that earlier pages showed; those that these show are added. */
  readonly drifted: Set<string>
  /** Everything the scope holds, so that what is absent is gone. */
  readonly snapshot?: CompleteSnapshot
  /** The snapshot was read once, in several pages: no row goes because of it, the load fails with Unconfirmed. */
  readonly isUnconfirmed?: boolean
  /** Remembers which ids a window has seen. */
  readonly windowId?: string
  /** Fails where the records are not ours to write any more; called within every part that is written by itself. */
  readonly fence?: () => Promise<void>
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
}

/** Undeclared fields on the sampled pages; also those that a load showed which was undone since. */
function findDrift({ plan, rows, sampled }: LoadRequest): Undeclared[] {
  const records = sampled.flatMap(page => recordsOf(page, rows))
  return undeclaredPaths(plan.root.table, records)
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

/** Which ids were on the pages is asked by windows, and by snapshots when they are compared. */
const asksForIds = ({ windowId, snapshot }: LoadRequest): boolean =>
  windowId !== undefined || snapshot !== undefined

function outcome(counts: DeltaCounts, { records }: Staged): Omit<Loaded, 'quarantined'> {
  return {
    records,
    inserted: counts.new + counts.stub,
    changed: counts.changed,
    removed: counts.gone,
    unchanged: counts.same + counts.stale,
  }
}

interface StagedPages {
  readonly staged: Staged
  readonly pages: readonly PageFile[]
  readonly trouble: readonly PageTrouble[]
  readonly drift: readonly Undeclared[]
  readonly newValues: readonly { readonly path: string; readonly value: string }[]
}

/** What the sampled pages show is kept from here on, also of the batch that is staged while this one is merged. */
async function stagePages(
  stage: Engine,
  request: LoadRequest,
  { pages, trouble, hasBooleans }: Readable,
): Promise<StagedPages> {
  const { plan, rows, drifted } = request
  const sampled = pages.filter((_, index) => request.sampled.includes(request.pages[index] as PageFile))
  const drift = findDrift({ ...request, sampled })
  for (const { path } of drift) drifted.add(path)
  const excluded = trouble.map(({ locator }) => locator)
  const batch = { pages, rows, drifted: [...drifted], excluded, hasBooleans }
  const staged = await stageBatch(stage, plan, batch)
  const values = unknownValues(plan.tables.filter(({ name }) => staged.filled.has(name)))
  const newValues = values ? await stage.rows<{ path: string; value: string }>(values) : []
  return { staged, pages, trouble, drift, newValues }
}

const unconfirmed = ({ resource }: StagePlan): Unconfirmed =>
  new Unconfirmed({
    what: `rows are missing from ${resource.name}`,
    next: 'read the list again before they count as gone',
  })

/** Calls `onSent` when the stage is not needed any more. */
async function mergePages(
  engine: Engine,
  request: LoadRequest,
  batch: StagedPages & { readonly records: Transfer; readonly onSent: () => void },
): Promise<Loaded> {
  const { plan } = request
  const { staged, trouble, drift, records } = batch
  const kept = { ...batch, plan }
  return engine.merge(async engine => {
    const counts = await createDelta(engine, plan.resource, { ...request, records })
    if (request.isUnconfirmed && counts.gone > 0) throw unconfirmed(plan)
    const open = await openCases(engine, plan.resource.name)
    if (open.suspects > 0) await recordSightings(engine, plan.resource.name)
    const merge = { counts, filled: staged.filled }
    const { items, members } = await arrivalsOf(engine, plan, merge)
    const transfer = engine.send([...items, ...(await quarantineTables(engine, kept))])
    transfer.sent.then(batch.onSent, () => undefined)
    try {
      // A server has something to do while the stage writes the first table.
      await rememberIds(engine, request)
      await makeRoom(engine, plan, merge)
      await engine.receive(transfer)
    } finally {
      await transfer.sent.catch(() => undefined)
      transfer.discard()
    }
    await applyMembers(engine, members)
    await keepQuarantine(engine, kept, open)
    await recordDrift(engine, plan.resource.name, {
      fields: drift,
      values: batch.newValues,
      rounded: staged.rounded,
      page: batch.pages[0],
    })
    const loaded = {
      ...outcome(counts, staged),
      quarantined: staged.quarantined + trouble.length,
    }
    await request.commit(loaded)
    return loaded
  })
}

/** The merge of a batch, under way when its stage is not needed any more. */
export interface Merging {
  readonly merged: Promise<Loaded>
}

/** Resolves when the stage is not needed any more, on a server before the merge has ended. */
function mergeInTurn(
  engine: Engine,
  request: LoadRequest,
  batch: StagedPages & { readonly records: Transfer },
): Promise<Merging> {
  return new Promise((resolve, reject) => {
    const merged: Promise<Loaded> = mergePages(engine, request, {
      ...batch,
      onSent: () => {
        if (engine.stage !== engine) resolve({ merged })
      },
    })
    merged.then(() => resolve({ merged }), reject)
  })
}

/**
 * Rows, ledger and mark commit together or not at all. A page that is no JSON fails the load with PageUnreadable;
 * a record that no warehouse can hold goes to quarantine and the rest of its page loads. Runs inside `engine.staging`.
 *
 * Nothing is written unless `before`, the load of earlier pages, succeeds; these pages are staged while those are still
 * being merged.
 */
export async function load(
  engine: Engine,
  request: LoadRequest,
  before: Promise<unknown> = Promise.resolve(),
): Promise<Merging> {
  const { stage } = engine
  const readable = readablePages(request.pages, request.rows)
  try {
    const batch = await stagePages(stage, request, readable)
    const records = sendRecords(engine, asksForIds(request))
    try {
      await records.sent
      await before
      return await mergeInTurn(engine, request, { ...batch, records })
    } finally {
      records.discard()
    }
  } catch (error) {
    // Of two batches that fail the earlier one tells why; and nobody goes on while one of them is being merged.
    await before
    throw unreadableAmong(readable.pages) ?? error
  } finally {
    await stage.run(dropStages(request.plan))
    readable.cleanUp()
  }
}
