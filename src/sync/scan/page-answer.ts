/** What a page tells the walk: its total, and its times where the walk needs them. */
import { readFile } from 'node:fs/promises'
import { type Envelope, readEnvelope } from '../../api/client/envelope.ts'
import { Retriable } from '../../api/client/errors.ts'
import { PAGE_LIMIT } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { ResourceTask } from '../run/context.ts'
import { spanOf } from './times.ts'
import { type Answer, isFirstDataPage, type Known, type WalkState } from './walk.ts'

export interface Content {
  readonly meta: { readonly total: number }
  readonly empty: boolean
  records(): unknown
}

/** Looks into the records only where the walk needs their times: parsing a page costs more than fetching it. */
export function answerOf(
  { resource, sync }: ResourceTask,
  known: Known | undefined,
  at: { page: number; state: WalkState; content: Content },
): Answer {
  const { page, state, content } = at
  const base: Answer = { page, total: content.meta.total, empty: content.empty }
  const wanted = known !== undefined || isFirstDataPage(state, page, base.total)
  if (!wanted || resource.updatedAt === undefined) return base
  return { ...base, ...spanOf(content.records() as unknown[], resource.updatedAt, sync.clock.now()) }
}

/** A body that is not what its edges promised is asked for again, and never met a second time in the landing. */
export function orUnreadable<Result>(page: LandedPage, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Retriable)) throw error
    throw new PageUnreadable({ ...page, scope: {} }, error)
  }
}

export async function readLanded(page: LandedPage): Promise<Envelope> {
  const bytes = await readFile(page.file)
  return orUnreadable(page, () => readEnvelope(bytes, { page: page.page, limit: PAGE_LIMIT }))
}
