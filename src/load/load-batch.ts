/** Loads one batch of landed pages: stage, compare, merge, and the caller's ledger rows, in one transaction. */
import { Unconfirmed } from '../lib/errors.ts'
import { recordDrift } from '../state/evidence/drift.ts'
import { openCases, recordSightings } from '../state/evidence/evidence.ts'
import { keepQuarantine } from '../state/evidence/quarantine.ts'
import { countWrites } from '../state/marts/writes.ts'
import { addStagedIds, type SeenBy } from '../state/scans/scan-ids.ts'
import type { Engine, Transfer } from '../warehouse/engine.ts'
import { applyMembers, arrivalsOf, type Merge, retireReplaced } from './merge/apply.ts'
import {
  type CompleteSnapshot,
  createDelta,
  type DeltaCounts,
  sendRecords,
  writeKind,
} from './merge/delta.ts'
import { type Loss, lossesOf, TooManyRemoved } from './merge/losses.ts'
import { knownFields } from './page/known-fields.ts'
import type { Bounds, Drift } from './page/record-findings.ts'
import { dropStages, type Staged, stageBatch } from './read/batch.ts'
import {
  type LeftOut,
  type PageTrouble,
  PageUnreadable,
  type Readable,
  readablePages,
  unreadableAmong,
} from './read/page-repair.ts'
import type { PageFile, RowsAt } from './read/pages.ts'
import type { StagePlan } from './read/plan.ts'
import { leftOutRows, quarantineTables } from './read/quarantine.ts'

export interface PageBatch {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Records that cannot be loaded, which go to quarantine with their ids. */
  readonly leftOut?: LeftOut
  /** Everything the scope holds, so that an absent row counts as removed. */
  readonly snapshot?: CompleteSnapshot
  /**
   * The snapshot was read once, in several pages: with the rows that are stored it shows that none slid past. If it adds or
   * removes one, the load fails with Unconfirmed instead.
   */
  readonly isUnconfirmed?: boolean
  /** Whether so many rows of an extent may be removed at once; when they may not, the load fails with TooManyRemoved. */
  readonly believes?: (loss: Loss) => boolean
  readonly scan?: SeenBy
  /** Ledger rows that commit with the records; `engine` is the connection of their transaction. */
  readonly ledger?: (engine: Engine, loaded: Loaded) => Promise<void>
}

/** Rows of star that a batch changed, and records that it read; touched ones have only other bookkeeping. */
export interface Loaded {
  readonly records: number
  readonly inserted: number
  readonly changed: number
  readonly touched: number
  readonly removed: number
  readonly unchanged: number
  readonly quarantined: number
  /** Batches whose records did not fit their type together and were read as JSON. */
  readonly readAsJson: number
}

export interface LoadTarget extends Pick<Merge, 'emptyTables'> {
  readonly plan: StagePlan
  readonly bounds: Bounds
}

/** What a batch waits for and gives back while it loads. */
export interface BatchTurn {
  /** Whether the batches before this one are committed; nothing is written unless they are. */
  readonly earlier: Promise<boolean>
  /** Gives the connection to the next batch; until then it stays with this one, also when it fails. */
  readonly release: () => void
}

/** The ids on the pages are needed by scans, and by snapshots when they are compared. */
const needsIds = ({ scan, snapshot }: PageBatch): boolean => scan !== undefined || snapshot !== undefined

function countsOf(counts: DeltaCounts, { records }: Staged): Omit<Loaded, 'quarantined' | 'readAsJson'> {
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
  readonly staged: Staged
  readonly pages: readonly PageFile[]
  readonly trouble: readonly PageTrouble[]
  readonly drift: readonly Drift[]
}

async function stagePages(
  stage: Engine,
  { plan, rows }: PageBatch & LoadTarget,
  { pages, trouble, hasBooleans, leaves, drift }: Readable,
): Promise<StagedPages> {
  const excluded = trouble.map(({ locator }) => locator)
  const staged = await stageBatch(stage, plan, { pages, rows, leaves, excluded, hasBooleans })
  return { staged, pages, trouble, drift }
}

/** Throws Unconfirmed or TooManyRemoved for a snapshot that cannot be believed. */
async function requireBelief(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  counts: DeltaCounts,
): Promise<void> {
  const { plan, snapshot, isUnconfirmed, believes } = batch
  if (isUnconfirmed && counts.missing + counts.new + counts.inferred > 0) throw unconfirmed(plan)
  if (counts.missing === 0 || !snapshot || !believes) return
  const losses = (await lossesOf(engine, plan.resource, snapshot)).filter(loss => !believes(loss))
  if (losses.length > 0) throw new TooManyRemoved(plan.resource.name, losses)
}

const unconfirmed = ({ resource }: StagePlan): Unconfirmed =>
  new Unconfirmed({
    what: `the rows of ${resource.name} are others than those that are stored`,
    next: 'read the list again before they are replaced',
  })

/** Throws the first failure once all have ended. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === 'rejected') throw one.reason
}

interface Arriving extends StagedPages {
  readonly records: Transfer
  /** Gives the stage to the next batch. */
  readonly leave: () => Promise<void>
}

/** Inside the transaction of the merge. */
async function mergePages(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  arriving: Arriving,
): Promise<Loaded> {
  const { plan } = batch
  const { staged, trouble, records } = arriving
  const counts = await createDelta(engine, plan.resource, { ...batch, records })
  await requireBelief(engine, batch, counts)
  const open = await openCases(engine, plan.resource.name)
  if (open.contested > 0) await recordSightings(engine, plan.resource.name)
  const merge = { counts, filled: staged.filled, emptyTables: batch.emptyTables }
  const { items, members } = await arrivalsOf(engine, plan, merge)
  const transfer = engine.send([
    ...items,
    ...(await quarantineTables(engine.stage, plan, { ...batch, ...arriving })),
  ])
  // A server has something to do while the stage writes the first table.
  const receive = async (): Promise<void> => {
    if (batch.scan) await addStagedIds(engine, batch.scan)
    await retireReplaced(engine, plan, merge)
    await engine.receive(transfer)
  }
  // Rows sent to a server are in files: the stage is free for the next batch while the server receives them.
  const isElsewhere = engine.stage !== engine
  const sent = transfer.sent.then(() => (isElsewhere ? arriving.leave() : undefined))
  await allEnded([receive(), sent]).finally(() => transfer.discard())
  const writes = await applyMembers(engine, members)
  const kind = writeKind(counts)
  await countWrites(engine, kind ? new Map([...writes, [plan.resource.name, kind]]) : writes)
  const leftOut = trouble.flatMap(one => leftOutRows(plan.resource.name, one))
  const quarantined = { resource: plan.resource.name, hasTable: staged.quarantined > 0, rows: leftOut }
  await keepQuarantine(engine, quarantined, open)
  await recordDrift(engine, plan.resource.name, {
    found: arriving.drift,
    values: staged.newValues,
    page: arriving.pages[0],
  })
  return {
    ...countsOf(counts, staged),
    quarantined: staged.quarantined + trouble.length,
    readAsJson: staged.isReadAsJson ? 1 : 0,
  }
}

/** A stage in use by one batch, until it is left. */
class StageUse {
  readonly #engine: Engine
  readonly #plan: StagePlan
  #readable: Readable | undefined
  isLeft = false

  constructor(engine: Engine, plan: StagePlan) {
    this.#engine = engine
    this.#plan = plan
  }

  async readable(batch: PageBatch & LoadTarget): Promise<Readable> {
    const known = knownFields(this.#plan.resource.table)
    this.#readable = await readablePages({ ...batch, known })
    return this.#readable
  }

  /** Its tables are dropped, so that the next batch has their memory. */
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
 * Rows, ledger and watermark commit together or not at all; undefined when nothing was written because an earlier batch
 * failed. A page that is no JSON fails the load with PageUnreadable; a record that no warehouse can hold goes to quarantine
 * and the rest of its page loads. Runs on a connection of `engine.staging`.
 */
export async function loadBatch(
  engine: Engine,
  batch: PageBatch & LoadTarget,
  { earlier, release }: BatchTurn,
): Promise<Loaded | undefined> {
  const use = new StageUse(engine, batch.plan)
  try {
    const staged = await stagePages(engine.stage, batch, await use.readable(batch))
    const records = sendRecords(engine, needsIds(batch))
    try {
      await records.sent
      if (!(await earlier)) return undefined
      const leave = async (): Promise<void> => {
        await use.leave()
        release()
      }
      return await engine.merge(async connection => {
        const loaded = await mergePages(connection, batch, { ...staged, records, leave })
        await batch.ledger?.(connection, loaded)
        return loaded
      })
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
