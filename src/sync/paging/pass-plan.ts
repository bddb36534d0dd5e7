/** Varies the passes of a scan, so that what hides a record from one pass does not hide it from the next. */
import { lastPage } from '../../api/client/paging.ts'

export interface PassPlan {
  readonly sortBy: 'updatedAt' | 'createdAt'
  /**
   * Reads only the last page, and the page where the previous pass ended: records that changed in between have moved
   * there.
   */
  readonly isShort: boolean
  /** Whether pages have a different size, so that different records fall on their edges. */
  readonly hasOtherSize: boolean
}

const byUpdate: PassPlan = { sortBy: 'updatedAt', isShort: false, hasOtherSize: false }
const short: PassPlan = { ...byUpdate, isShort: true }
const byCreation: PassPlan = { ...byUpdate, sortBy: 'createdAt' }
const others = (plan: PassPlan): PassPlan => ({ ...plan, hasOtherSize: true })

/**
 * Records that tie on one sort time seldom tie on the other. A page that always returns too few rows misses different
 * records when it begins elsewhere.
 */
const fullPlans = [byUpdate, short, byCreation, others(byUpdate), others(byCreation), byUpdate]
/** When sorted by creation, an incremental scan has to read the full list. */
const partPlans = [byUpdate, short, byUpdate, others(byUpdate), byCreation, byUpdate]

/** Longer lists are not read in full just to find a few changes. */
const maxPages = 50

export interface PlannedScan {
  /** Whether the scan stops where it meets what is known. */
  readonly isPart: boolean
  /** Records in the list; undefined before the first response. */
  readonly total: number | undefined
}

export function planOf(attempt: number, { isPart, total = 0 }: PlannedScan): PassPlan {
  const plans = isPart ? partPlans : fullPlans
  const place = attempt <= plans.length ? attempt - 1 : 2 + ((attempt - 3) % (plans.length - 2))
  const plan = plans[place] as PassPlan
  const isTooLong = isPart && lastPage(total) > maxPages
  return isTooLong ? { ...plan, sortBy: 'updatedAt' } : plan
}

/** Rows to request for each page, when a page has at most `pageSize`. */
export const sizeOf = ({ hasOtherSize }: PassPlan, pageSize: number): number =>
  hasOtherSize ? Math.max(1, Math.floor(pageSize * 0.8)) : pageSize

/** A snapshot is read in full, in the order its resource declares. */
export const snapshotPlan = (attempt: number): PassPlan => (attempt % 3 === 0 ? others(byUpdate) : byUpdate)
