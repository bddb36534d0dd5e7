/**
 * Whether a scan has seen every record of its list: the only place that decides it.
 *
 * The proof does not depend on the order of records, only on counting. When the first data page of a pass is answered, the
 * list holds so many records. A record counts when it was in the list at that moment and was seen then or later. Once as
 * many count as there were, all of them have been seen. See docs/paging.md.
 */

/** The moment a pass began: its first data page. */
export interface Base {
  /** Number of the pass, from 1. */
  readonly pass: number
  /** Page that was answered. */
  readonly front: number
  /** Records in the list at that moment. */
  readonly total: number
  /** Records with a time up to this one were in the list by then; milliseconds since the epoch, null when unknown. */
  readonly before: number | null
  /** Greatest updatedAt on the page, as the service wrote it: the watermark if this moment is proved. */
  readonly watermark: string | null
}

/** What the passes of a scan have seen of one id. */
export interface SeenId {
  readonly firstPass: number
  readonly lastPass: number
  /** The passes on whose first data page it was. */
  readonly frontPasses: readonly number[]
  /** A time at which the record existed, by its own fields; milliseconds since the epoch. */
  readonly existedAt: number | null
}

/**
 * Whether a record was in the list at the moment of the base and was seen then or later. It was in the list when it is on
 * that very page, when its own times say so, or when it was seen before: a deleted record does not come back.
 */
export function counts(id: SeenId, { pass, before }: Pick<Base, 'pass' | 'before'>): boolean {
  if (id.lastPass < pass) return false
  if (id.firstPass < pass || id.frontPasses.includes(pass)) return true
  return before !== null && id.existedAt !== null && id.existedAt <= before
}

export interface PassFigures {
  /** How often the scan was begun, from 1. */
  readonly attempt: number
  /** The moments, oldest first, and how many records count for each. */
  readonly bases: readonly Base[]
  readonly counted: readonly number[]
  /** Different ids of all passes, and what the service claims: where no pass found the end of the list. */
  readonly ids: number
  readonly claimed: number
  /** Records that need not be seen: those below the watermark, and those that the service counts and hides. */
  readonly excluded: number
  /** Those that it hides. */
  readonly hidden: number
  /** Pages had rows beyond the total. */
  readonly isCapped: boolean
  /** Records come in another order with every answer: what one pass overlooked another may show. */
  readonly isShuffled?: boolean
}

export type Decision = 'accepted' | 'scan again' | 'refused'

/** How long a scan is tried that is not proved: it is incomplete then until the next run. */
interface Patience {
  readonly passes: number
  /** So many passes in a row that bring nothing end the scan: what it lacks is on no page. */
  readonly vain: number
}

const usual: Patience = { passes: 14, vain: 4 }

/**
 * For records with equal sort keys that come in another order with every answer: each pass overlooks up to 37% of them, and
 * those that are younger than the lookback have to be seen twice. Of 10,000, 15 passes overlook none, and ten in a row bring
 * nothing of one that is there once in 20,000 times.
 */
const forShuffled: Patience = { passes: 30, vain: 10 }

export const patienceFor = ({ isShuffled }: Pick<PassFigures, 'isShuffled'>): Patience =>
  isShuffled ? forShuffled : usual

/** Whether a pass showed rows twice although the total stood still. */
export function isShuffled({ isSteady, rows, oldRows, below }: Shown, inLastPass: number): boolean {
  return isSteady && inLastPass < (rows ?? 0) - (below > 0 ? oldRows : 0)
}

/** What the pages of a pass showed. */
interface Shown {
  readonly isSteady: boolean
  readonly rows: number | undefined
  readonly oldRows: number
  readonly below: number
}

/** Records that must count for a moment. */
const expectedOf = ({ total }: Base, excluded: number): number => Math.max(0, total - excluded)

/** A moment with fewer than half of the records that the scan has seen is that of a list shown as empty for a while. */
export const isLikely = ({ total }: Base, ids: number): boolean => ids <= 2 * total

/**
 * The newest moment that is proved. Where totals are too low, none at which the list is to have had fewer records than were seen:
 * it may have ended at a page that lacked its rows.
 */
export function provedBase({ bases, counted, excluded, ids, isCapped }: PassFigures): Base | undefined {
  const isEnough = (base: Base, index: number): boolean => (counted[index] ?? 0) >= expectedOf(base, excluded)
  return bases.findLast(
    (base, index) => isEnough(base, index) && isLikely(base, ids) && !(isCapped && ids > base.total),
  )
}

/**
 * The same for a pass that goes forward. Where totals are too low it never learns how many records there were when it began:
 * it must show each row once, and the passes before it must not have shown others.
 */
export function provedForward(figures: PassFigures, pass: Forward): Base | undefined {
  const { ids, inLastPass, isCapped, base } = pass
  const isSame = figures.attempt > 1 && ids === inLastPass && ids === base?.total
  return isCapped && !isSame ? undefined : provedBase(figures)
}

interface Forward {
  readonly ids: number
  readonly inLastPass: number
  readonly isCapped: boolean
  readonly base?: Base
}

/** To be asked at the end of each pass; `lacks` are the records that it and those before it lacked. */
export function judge(
  figures: Pick<PassFigures, 'attempt' | 'isShuffled'>,
  proved: Base | undefined,
  lacks: readonly number[],
): Decision {
  if (proved) return 'accepted'
  const { passes, vain } = patienceFor(figures)
  // The passes before the last ones lacked as little as any.
  const isVain = Math.min(...lacks.slice(0, -vain)) === Math.min(...lacks)
  return figures.attempt < passes && !isVain ? 'scan again' : 'refused'
}

/** What a scan has seen, and what it should have: of the proved moment, or of the one that lacks least. */
export function seenAndExpected(figures: PassFigures): { readonly seen: number; readonly expected: number } {
  const { bases, counted, excluded } = figures
  const found = bases.map((base, index) => ({
    seen: counted[index] ?? 0,
    expected: expectedOf(base, excluded),
  }))
  const lacks = ({ seen, expected }: { seen: number; expected: number }): number =>
    Math.max(0, expected - seen)
  const unknown = { seen: figures.ids, expected: figures.claimed }
  return found.reduce((best, one) => (lacks(one) <= lacks(best) ? one : best), found[0] ?? unknown)
}

/** What the last pass found of a list that may hide rows: the ids that it saw, and those that any pass of the scan saw. */
export interface Hiding {
  readonly attempt: number
  readonly ids: number
  readonly inLastPass: number
  /** Rows that earlier scans found hidden; undefined when they found none. */
  readonly known: number | undefined
  /** Passes in a row, up to this one, that brought no other id and began with the same total. */
  readonly still?: number
  /** Of the scan so far, as in PassFigures. */
  readonly isShuffled?: boolean
}

/**
 * The first attempt whose pages have another size: a page that is short by its place lacks other rows then. From this one on the
 * page after the last is asked for as well: rows on it are not hidden, they are on smaller pages.
 */
export const otherSizes = 5

/**
 * Rows that the service counts and shows on no page, because it drops them after it has cut the pages. They are believed when
 * passes over pages of different sizes saw the same ids, each on one page, while the total stood still from one to the next.
 * Where ties come in any order, a pass shows each id once by chance only: as many in a row as end a scan must have brought no
 * other id then.
 */
export function hiddenRows(pass: Lacking, hiding: Hiding): number {
  const { attempt, ids, inLastPass, known, still = 0, isShuffled = false } = hiding
  const { lacking, base, below, lastTotal } = pass
  // A list that shows nothing at all is not one that hides everything.
  if (!lacking || !base || lastTotal !== base.total || ids === 0) return 0
  if (lacking <= (known ?? 0)) return lacking
  const shown = base.total - below - lacking
  const isSame = still >= (isShuffled || inLastPass !== shown ? forShuffled.vain : 2)
  return attempt >= otherSizes && ids === shown && isSame ? lacking : 0
}

interface Lacking {
  /** Rows that full pages lacked; undefined where they were not counted. */
  readonly lacking: number | undefined
  readonly base?: Base
  readonly below: number
  readonly lastTotal: number
}

/**
 * A loaded scan may count records up to the watermark itself where every page gave the same total. What can be missed then is
 * a record within the lookback, when another one was committed late below it: the next scan reads these again. A sweep has no
 * next scan that could make up for it.
 */
export function steadyMoment({
  isSteady,
  base,
}: Steady): { readonly pass: number; readonly before: number }[] {
  if (!isSteady || !base || base.watermark === null) return []
  return [{ pass: base.pass, before: Date.parse(base.watermark) }]
}

interface Steady {
  readonly isSteady: boolean
  readonly base?: Base
}

/** `counted` has one figure for each base, and one for the steady moment of the last base if there is one. */
export function withSteady(bases: readonly Base[], counted: readonly number[]): number[] {
  const own = counted.slice(0, bases.length)
  const steady = counted[bases.length]
  if (steady === undefined) return own
  return own.map((count, index) => (index === bases.length - 1 ? Math.max(count, steady) : count))
}
