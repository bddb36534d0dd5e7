/**
 * Loads a batch that failed. Pages at fault are fetched again once; after that their broken records go to quarantine.
 * Finds these by trial: it loads parts of the batch in transactions that it rolls back.
 */
import { pageBytes } from '../lib/stored-page.ts'
import { mayBeDueToRows } from '../warehouse/blame.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Commit, type LoadTarget, loadBatch, type PageBatch } from './load-batch.ts'
import { recordCount } from './page/stand-ins.ts'
import { type LeftOutRecords, PageUnreadable } from './read/page-repair.ts'
import type { PageFile } from './read/pages.ts'

/** Ends a trial whose rows were all written, to roll it back. */
class RolledBack extends Error {}

const rollBack: Commit = (engine, { merge }) =>
  engine.merge(async connection => {
    await merge(connection)
    throw new RolledBack()
  })

type RepairBatch = PageBatch & LoadTarget
type RecordReasons = ReadonlyMap<number, string>

const reasonOf = (error: Error): string =>
  `cannot be loaded: ${(error.message.split('\n')[0] ?? '').slice(0, 200)}`

const halves = <Item>(items: readonly Item[]): [Item[], Item[]] => {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}

class LoadTrials {
  readonly #engine: Engine
  readonly #batch: RepairBatch

  constructor(engine: Engine, batch: RepairBatch) {
    this.#engine = engine
    this.#batch = batch
  }

  /** Returns pages that fail even alone. Throws when not even their envelopes load: then no record is at fault. */
  async pages(): Promise<PageFile[]> {
    const pages = this.#open
    if (pages.length === 0) return []
    const nothing = new Map(pages.map(page => [page.file, this.#all(page)]))
    const failure = await this.#failure(pages, nothing)
    if (failure) throw failure
    return this.#failing(pages, page => this.#failure(page, this.#batch.leftOut))
  }

  /** Returns records of a page that fail even alone: the reason by position. */
  async records(page: PageFile): Promise<RecordReasons> {
    const all = this.#all(page)
    const without = (positions: readonly number[]): LeftOutRecords =>
      new Map([[page.file, new Map([...all].filter(([position]) => !positions.includes(position)))]])
    const alone = (positions: readonly number[]) => this.#failure([page], without(positions))
    const reasons = new Map<number, string>()
    for (const position of await this.#failing([...all.keys()], alone)) {
      // Try twice: the first failure may have been temporary.
      const failure = await alone([position])
      if (failure) reasons.set(position, reasonOf(failure))
    }
    return reasons
  }

  get #open(): readonly PageFile[] {
    return this.#batch.pages.filter(({ file }) => !this.#batch.leftOut?.has(file))
  }

  #all(page: PageFile): RecordReasons {
    const count = recordCount(pageBytes(page), this.#batch.rows)
    return new Map(Array.from({ length: count }, (_, index) => [index + 1, '']))
  }

  async #failing<Item>(
    items: readonly Item[],
    failure: (some: readonly Item[]) => Promise<Error | undefined>,
  ): Promise<Item[]> {
    if (items.length === 0 || !(await failure(items))) return []
    if (items.length === 1) return [...items]
    const [first, second] = halves(items)
    return [...(await this.#failing(first, failure)), ...(await this.#failing(second, failure))]
  }

  /** Undefined when the pages can be loaded. Throws an error that no record can cause. */
  async #failure(
    pages: readonly PageFile[],
    leftOut: LeftOutRecords | undefined,
  ): Promise<Error | undefined> {
    const { plan, bounds, rows } = this.#batch
    const trial = { plan, bounds, rows, pages, ...(leftOut && { leftOut }) }
    const turn = { earlier: Promise.resolve(true), release: () => undefined, commit: rollBack }
    try {
      await loadBatch(this.#engine, trial, turn)
      return undefined
    } catch (error) {
      if (error instanceof RolledBack) return undefined
      if (mayBeDueToRows(error)) return error as Error
      throw error
    }
  }
}

type BatchLoad = (batch: PageBatch) => Promise<unknown>

/** Without the records at fault a load may still fail: pages that are not JSON can hide others. */
const maxRounds = 3

/** Throws PageUnreadable for pages that have not been fetched a second time. */
async function recordsAtFault(engine: Engine, batch: RepairBatch, failure: unknown): Promise<LeftOutRecords> {
  const trials = new LoadTrials(engine, batch)
  const isNoJson = failure instanceof PageUnreadable
  const pages = isNoJson ? failure.pages : await trials.pages()
  const [first, ...others] = pages.filter(({ wasReadAgain }) => !wasReadAgain)
  if (first) throw new PageUnreadable([first, ...others], failure)
  const found = async (page: PageFile) =>
    [page.file, isNoJson ? new Map<number, string>() : await trials.records(page)] as const
  const leftOut = new Map(batch.leftOut)
  for (const page of pages) leftOut.set(...(await found(page)))
  return leftOut
}

/**
 * Rethrows the failure when no record is at fault. If records are left out, a snapshot removes no rows: it might remove
 * theirs.
 */
export async function loadWithoutFaults(
  engine: Engine,
  batch: RepairBatch,
  { failure, load }: { readonly failure: unknown; readonly load: BatchLoad },
): Promise<void> {
  let left = batch
  let last = failure
  for (let round = 1; round <= maxRounds && mayBeDueToRows(last); round += 1) {
    const leftOut = await recordsAtFault(engine, left, last)
    const { snapshot: _, isUnconfirmed: __, ...bare } = batch
    left = leftOut.size > 0 ? { ...bare, leftOut } : batch
    try {
      await load(left)
      return
    } catch (error) {
      last = error
    }
  }
  throw last
}
