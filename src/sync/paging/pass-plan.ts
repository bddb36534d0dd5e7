/** How the passes of a scan differ, so that what hides a record from one of them does not hide it from the next. */
import { lastPage } from '../../api/client/paging.ts'
import type { PassState } from './pass-state.ts'

export interface PassPlan {
  readonly sortBy: 'updatedAt' | 'createdAt'
  /** Only the last page, and the page where the pass before it ended: what changed meanwhile has moved there. */
  readonly isShort: boolean
  /** Whether pages have another size, so that other records stand at their edges. */
  readonly hasOtherSize: boolean
}

const byUpdate: PassPlan = { sortBy: 'updatedAt', isShort: false, hasOtherSize: false }
const short: PassPlan = { ...byUpdate, isShort: true }
const byCreation: PassPlan = { ...byUpdate, sortBy: 'createdAt' }
const others = (plan: PassPlan): PassPlan => ({ ...plan, hasOtherSize: true })

/**
 * Records that tie by one time seldom tie by the other. A page that is short wherever it begins lacks other records when it
 * begins elsewhere.
 */
const wholePlans = [byUpdate, short, byCreation, others(byUpdate), others(byCreation), byUpdate]
/** Sorted by creation, a scan of changes has to read the whole list. */
const partPlans = [byUpdate, short, byUpdate, others(byUpdate), byCreation, byUpdate]

/** A whole list of more pages is not read to find some changes. */
const mostPages = 50

export interface PlannedScan {
  /** It ends where it meets what is known. */
  readonly isPart: boolean
  /** Records in the list; undefined when nothing was answered yet. */
  readonly total: number | undefined
}

export function planOf(attempt: number, { isPart, total = 0 }: PlannedScan): PassPlan {
  const plans = isPart ? partPlans : wholePlans
  const place = attempt <= plans.length ? attempt - 1 : 2 + ((attempt - 3) % (plans.length - 2))
  const plan = plans[place] as PassPlan
  const isTooLong = isPart && lastPage(total) > mostPages
  return isTooLong ? { ...plan, sortBy: 'updatedAt' } : plan
}

/** Rows to ask for a page. Where the service gives fewer than it is asked for, pages of another size cannot be had. */
export const limitOf = ({ hasOtherSize }: PassPlan, { usual, limit }: PassState): number =>
  hasOtherSize && usual === limit ? Math.max(1, Math.floor(limit * 0.8)) : limit

/** Rows of a full page that is asked for so. */
export const sizeOf = (asked: number, { usual, limit }: PassState): number => (asked < limit ? asked : usual)

/** A snapshot is read whole in the order that its resource declares. */
export const snapshotPlan = (attempt: number): PassPlan => (attempt % 3 === 0 ? others(byUpdate) : byUpdate)
