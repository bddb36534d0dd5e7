/** Stages one batch of landed pages, and merges it in the caller's transaction. */
import { AbsenceUnconfirmed } from '../lib/errors.ts'
import { recordDrift } from '../state/evidence/drift.ts'
import { openCases, recordSightings } from '../state/evidence/evidence.ts'
import { keepQuarantine } from '../state/evidence/quarantine.ts'
import { countWrites } from '../state/marts/writes.ts'
import { addStagedIds, type CountingScan } from '../state/scans/scan-ids.ts'
import type { Engine, Transfer } from '../warehouse/engine.ts'
import { applyMembers, arrivalsOf, type Merge, retireReplaced } from './merge/apply.ts'
import {
  type CompleteSnapshot,
  createDelta,
  type DeltaCounts,
  sendRecords,
  writeKind,
} from './merge/delta.ts'
import { type ExtentLoss, lossesOf, TooManyRemoved } from './merge/losses.ts'
import { knownFields } from './page/known-fields.ts'
import type { Drift, SearchBounds } from './page/record-findings.ts'
import { dropStages, type StagedRows, stageBatch } from './read/batch.ts'
import {
  type LeftOutRecords,
  type PageTrouble,
  PageUnreadable,
  type ReadablePages,
  readablePages,
  unreadableAmong,
} from './read/page-repair.ts'
import type { PageFile, RowsAt } from './read/pages.ts'
import type { StagePlan } from './read/plan.ts'
import { leftOutRows } from './read/quarantine.ts'

export interface PageBatch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Records that cannot be loaded, by page; they go to quarantine with their ids. */
  readonly leftOut?: LeftOutRecords
  /** Given when the pages hold everything in the scope, so that an absent row counts as removed. */
  readonly snapshot?: CompleteSnapshot
  /**
   * The snapshot was read only once, in several pages. It is proved if it matches the stored rows, since then no row
   * slid past. If it adds or removes one, the load fails with AbsenceUnconfirmed.
   */
  readonly isUnconfirmed?: boolean
  /** Whether an extent may lose this many rows at once; if not, the load fails with TooManyRemoved. */
  readonly allowsLoss?: (loss: ExtentLoss) => boolean
  readonly scan?: CountingScan
}

/** Star rows that a batch changed, and records that it read; touched rows got only other bookkeeping. */
export interface LoadCounts {
  readonly records: number
  readonly inserted: number
  readonly changed: number
  readonly touched: number
  readonly removed: number
  readonly unchanged: number
  readonly quarantined: number
}

export interface LoadTarget extends Pick<Merge, 'emptyTables'> {
  readonly plan: StagePlan
  readonly bounds: SearchBounds
}

/** A staged batch, or part of one that did not fit into memory. */
export interface StagedBatch {
  /** Compares the batch with star and merges the differences; call it once, in a transaction of `engine.merge`. */
  readonly merge: (connection: Engine) => Promise<LoadCounts>
  /** False for all parts but the last: only that one may commit that all pages are loaded. */
  readonly isLast: boolean
}

/** Opens a transaction on `engine`, merges the staged batch, and writes the batch's bookkeeping in it. */
export type Commit = (engine: Engine, staged: StagedBatch) => Promise<void>

/** What a batch waits for, and what it releases, while it loads. */
export interface BatchTurn {
  /** Whether the previous batches are committed; if not, nothing is written. */
  readonly earlier: Promise<boolean>
  /** Gives the connection to the next batch. Until then this batch keeps it, even when it fails. */
  readonly release: () => void
  readonly commit: Commit
}

/** Scans need the ids on the pages, and so do snapshots for their comparison. */
const needsIds = ({ scan, snapshot }: PageBatch): boolean => scan !== undefined || snapshot !== undefined

function countsOf(counts: DeltaCounts, { records }: StagedRows): Omit<LoadCounts, 'quarantined'> {
  return {
    records,
    inserted: counts.new + counts.inferred,
    changed: counts.changed,
    touched: counts.touched,
    removed: counts.missing,
    unchanged: counts.same + counts.stale,
  }
}

interface StagedPages {
  readonly staged: StagedRows
  readonly pages: readonly PageFile[]
  readonly trouble: readonly PageTrouble[]
  readonly drift: readonly Drift[]
}

async function stagePages(
  stage: Engine,
  { plan, rows }: PageBatch & LoadTarget,
  { pages, trouble, hasLong, leaves, drift }: ReadablePages,
): Promise<StagedPages> {
  const excluded = trouble.map(({ locator }) => locator)
  const staged = await stageBatch(stage, plan, { pages, rows, leaves, excluded, hasLong })
  return { staged, pages, trouble, drift }
}

/** Throws AbsenceUnconfirmed or TooManyRemoved for an implausible snapshot. */
async function requirePlausible(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  counts: DeltaCounts,
): Promise<void> {
  const { plan, snapshot, isUnconfirmed, allowsLoss } = batch
  if (isUnconfirmed && counts.missing + counts.new + counts.inferred > 0) throw unconfirmed(plan)
  if (counts.missing === 0 || !snapshot || !allowsLoss) return
  const losses = (await lossesOf(engine, plan.resource, snapshot)).filter(loss => !allowsLoss(loss))
  if (losses.length > 0) throw new TooManyRemoved(plan.resource.name, losses)
}

const unconfirmed = ({ resource }: StagePlan): AbsenceUnconfirmed =>
  new AbsenceUnconfirmed({
    what: `the service's ${resource.name} differ from the stored ones`,
    next: 'read the list again before replacing them',
  })

/** Throws the first failure once all work has ended. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === 'rejected') throw one.reason
}

interface StagedTransfer extends StagedPages {
  readonly records: Transfer
  /** Releases the stage to the next batch. */
  readonly leave: () => Promise<void>
}

async function mergePages(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  arriving: StagedTransfer,
): Promise<LoadCounts> {
  const { plan } = batch
  const { staged, trouble, records } = arriving
  const counts = await createDelta(engine, plan.resource, { ...batch, records })
  await requirePlausible(engine, batch, counts)
  const open = await openCases(engine, plan.resource.name)
  if (open.contested > 0) await recordSightings(engine, plan.resource.name)
  const merge = { counts, filled: staged.filled, emptyTables: batch.emptyTables }
  const { items, members } = await arrivalsOf(engine, plan, merge)
  const transfer = engine.send(items)
  // Gives the server work while the stage writes the first table.
  const receive = async (): Promise<void> => {
    if (batch.scan) await addStagedIds(engine, batch.scan)
    await retireReplaced(engine, plan, merge)
    await engine.receive(transfer)
  }
  // Rows for a server are in files by now, so the next batch can use the stage while the server receives them.
  const isElsewhere = engine.stage !== engine
  const sent = transfer.sent.then(() => (isElsewhere ? arriving.leave() : undefined))
  await allEnded([receive(), sent]).finally(() => transfer.discard())
  const writes = await applyMembers(engine, members)
  const kind = writeKind(counts)
  await countWrites(engine, kind ? new Map([...writes, [plan.resource.name, kind]]) : writes)
  const leftOut = trouble.flatMap(one => leftOutRows(plan.resource.name, one))
  await keepQuarantine(engine, { resource: plan.resource.name, rows: leftOut }, open)
  await recordDrift(engine, plan.resource.name, {
    found: arriving.drift,
    values: staged.newValues,
    page: arriving.pages[0],
  })
  return { ...countsOf(counts, staged), quarantined: trouble.length }
}

/** A stage that one batch uses until it leaves. */
class StageUse {
  readonly #engine: Engine
  readonly #plan: StagePlan
  #readable: ReadablePages | undefined
  isLeft = false

  constructor(engine: Engine, plan: StagePlan) {
    this.#engine = engine
    this.#plan = plan
  }

  async readable(batch: PageBatch & LoadTarget): Promise<ReadablePages> {
    const known = knownFields(this.#plan.resource.table)
    this.#readable = await readablePages({ ...batch, known })
    return this.#readable
  }

  /** Drops the batch's tables, which frees their memory for the next batch. */
  async leave(): Promise<void> {
    if (this.isLeft) return
    this.isLeft = true
    try {
      await this.#engine.stage.run(dropStages(this.#plan))
    } finally {
      this.#readable?.cleanUp()
    }
  }
}

/**
 * Stages a batch and passes it to `commit`, on a connection of `engine.staging`. Returns whether it is committed: after
 * an earlier batch failed, nothing is written. A page that is not JSON fails the load with PageUnreadable. A record
 * that cannot be stored goes to quarantine, and the rest of its page loads.
 */
export async function loadBatch(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  { earlier, release, commit }: BatchTurn,
): Promise<boolean> {
  const use = new StageUse(engine, batch.plan)
  const leave = async (): Promise<void> => {
    await use.leave()
    release()
  }
  try {
    const pages = await stagePages(engine.stage, batch, await use.readable(batch))
    const records = sendRecords(engine, needsIds(batch))
    try {
      await records.sent
      if (!(await earlier)) return false
      const merge = (connection: Engine) => mergePages(connection, batch, { ...pages, records, leave })
      await commit(engine, { merge, isLast: true })
      return true
    } finally {
      records.discard()
    }
  } catch (error) {
    const untried = use.isLeft ? [] : batch.pages.filter(({ file }) => !batch.leftOut?.has(file))
    const [first, ...others] = unreadableAmong(untried)
    throw first ? new PageUnreadable([first, ...others], error) : error
  } finally {
    await use.leave()
  }
}
