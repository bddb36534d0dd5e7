/** Loads a batch that failed: pages at fault are asked for again once, then their broken records go to quarantine. */
import { mayBeDueToRows } from '../warehouse/blame.ts'
import type { Engine } from '../warehouse/engine.ts'
import { Trials } from './blamed-records.ts'
import type { Loaded, LoadTarget, PageBatch } from './load-batch.ts'
import { type LeftOut, PageUnreadable } from './read/page-repair.ts'
import type { PageFile } from './read/pages.ts'

type Batch = PageBatch & LoadTarget
type Load = (batch: PageBatch) => Promise<Loaded | undefined>

/** A load without the records at fault may still fail: pages that are no JSON hide others. */
const mostRounds = 3

/** Throws PageUnreadable for pages that the service has not been asked for a second time. */
async function recordsAtFault(engine: Engine, batch: Batch, failure: unknown): Promise<LeftOut> {
  const trials = new Trials(engine, batch)
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
 * Throws the failure where no record is to blame for it. Without some of its records a snapshot removes no rows: theirs may
 * be among them.
 */
export async function loadWithoutFaults(
  engine: Engine,
  batch: Batch,
  { failure, load }: { readonly failure: unknown; readonly load: Load },
): Promise<Loaded | undefined> {
  let left = batch
  let last = failure
  for (let round = 1; round <= mostRounds && mayBeDueToRows(last); round += 1) {
    const leftOut = await recordsAtFault(engine, left, last)
    const { snapshot: _, isUnconfirmed: __, ...bare } = batch
    left = leftOut.size > 0 ? { ...bare, leftOut } : batch
    try {
      return await load(left)
    } catch (error) {
      last = error
    }
  }
  throw last
}
