/** Finds the records that keep a batch from loading: parts of it are loaded in transactions that are rolled back. */
import { pageBytes } from '../lib/stored-page.ts'
import { mayBeDueToRows } from '../warehouse/blame.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type LoadTarget, loadBatch, type PageBatch } from './load-batch.ts'
import { recordCount } from './page/stand-ins.ts'
import type { LeftOut } from './read/page-repair.ts'
import type { PageFile } from './read/pages.ts'

/** Everything was written and nothing of it is kept. */
class RolledBack extends Error {}

type Batch = PageBatch & LoadTarget
type Reasons = ReadonlyMap<number, string>

const reasonOf = (error: Error): string =>
  `cannot be loaded: ${(error.message.split('\n')[0] ?? '').slice(0, 200)}`

const halves = <Item>(items: readonly Item[]): [Item[], Item[]] => {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}

export class Trials {
  readonly #engine: Engine
  readonly #batch: Batch

  constructor(engine: Engine, batch: Batch) {
    this.#engine = engine
    this.#batch = batch
  }

  /** Pages that cannot be loaded even alone. Throws when not even their envelopes can: then no record is to blame. */
  async pages(): Promise<PageFile[]> {
    const pages = this.#open
    if (pages.length === 0) return []
    const nothing = new Map(pages.map(page => [page.file, this.#all(page)]))
    const failure = await this.#failure(pages, nothing)
    if (failure) throw failure
    return this.#failing(pages, page => this.#failure(page, this.#batch.leftOut))
  }

  /** Records of a page that cannot be loaded even alone, with the reason, by their positions. */
  async records(page: PageFile): Promise<Reasons> {
    const all = this.#all(page)
    const without = (kept: readonly number[]): LeftOut =>
      new Map([[page.file, new Map([...all].filter(([position]) => !kept.includes(position)))]])
    const alone = (kept: readonly number[]) => this.#failure([page], without(kept))
    const reasons = new Map<number, string>()
    for (const position of await this.#failing([...all.keys()], alone)) {
      // Twice: the first failure may have been a moment's.
      const failure = await alone([position])
      if (failure) reasons.set(position, reasonOf(failure))
    }
    return reasons
  }

  get #open(): readonly PageFile[] {
    return this.#batch.pages.filter(({ file }) => !this.#batch.leftOut?.has(file))
  }

  #all(page: PageFile): Reasons {
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

  /** Undefined when the pages can be loaded. Throws what no record is to blame for. */
  async #failure(pages: readonly PageFile[], leftOut: LeftOut | undefined): Promise<Error | undefined> {
    const { plan, bounds, rows } = this.#batch
    const ledger = async (): Promise<void> => {
      throw new RolledBack()
    }
    const trial = { plan, bounds, rows, pages, ledger, ...(leftOut && { leftOut }) }
    const turn = { earlier: Promise.resolve(true), release: () => undefined }
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
