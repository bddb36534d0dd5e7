/**
 * Decides whether a scan has seen every record of its list; no other code decides it.
 *
 * The proof relies only on counting, not on the order of records. The response with a pass's first data page gives the
 * number of records in the list: the pass start. A record counts if it was in the list at the pass start and was seen
 * then or later. When as many records count as there were, all of them have been seen. See docs/paging.md.
 */

/** State of the list when the first data page of a pass was returned. */
export interface PassStart {
  /** Number of the pass, from 1. */
  readonly pass: number
  /** Number of that page. */
  readonly front: number
  /** Records in the list. */
  readonly total: number
  /** Records with a time up to this one were in the list; milliseconds since the epoch, null when unknown. */
  readonly before: number | null
  /** Latest updatedAt on the page, as the service wrote it: the watermark if this pass start is proved. */
  readonly watermark: string | null
}

/** The passes of a scan that saw an id. */
export interface SeenId {
  readonly firstPass: number
  readonly lastPass: number
  /** Passes that had it on their first data page. */
  readonly frontPasses: readonly number[]
  /** A time when the record existed, by its own fields; milliseconds since the epoch. */
  readonly existedAt: number | null
}

/**
 * Whether a record was in the list at the pass start, and was seen then or later. It was in the list if it is on that
 * page, if its own times say so, or if an earlier pass saw it: deleted records do not come back.
 */
export function counts(id: SeenId, { pass, before }: Pick<PassStart, 'pass' | 'before'>): boolean {
  if (id.lastPass < pass) return false
  if (id.firstPass < pass || id.frontPasses.includes(pass)) return true
  return before !== null && id.existedAt !== null && id.existedAt <= before
}

export interface PassFigures {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Pass starts, oldest first, and how many records count for each. */
  readonly starts: readonly PassStart[]
  readonly counted: readonly number[]
  /** Distinct ids of all passes, and the last reported total; used when no pass has started. */
  readonly ids: number
  readonly total: number
  /** Records that need not be seen: those below the watermark, and the hidden rows. */
  readonly excluded: number
  /** Rows that the service counts but shows on no page. */
  readonly hidden: number
  /** Every response has a different order: another pass may show what one pass missed. */
  readonly isShuffled?: boolean
  /** The size of a full page is only inferred from the rows of pages. */
  readonly isSizeInferred?: boolean
  /** Set when the service contradicted itself: then nothing is proved. */
  readonly contradiction?: string | undefined
}

export type ScanDecision = 'accepted' | 'scan again' | 'refused'

/** When to give up on an unproved scan; it then stays incomplete until the next run. */
interface PassLimits {
  readonly maxPasses: number
  /** Give up after this many passes in a row that come no closer than an earlier one. */
  readonly maxIdlePasses: number
}

const patience: PassLimits = { maxPasses: 14, maxIdlePasses: 4 }

/**
 * For records with equal sort keys whose order changes with every response: each pass misses up to 37% of them, and
 * those younger than the lookback have to be seen twice. Of 10,000 such records, 15 passes miss none; ten idle passes
 * in a row for an existing record happen once in 20,000 cases.
 */
const patienceForShuffled: PassLimits = { maxPasses: 30, maxIdlePasses: 10 }

export const patienceFor = ({ isShuffled }: Pick<PassFigures, 'isShuffled'>): PassLimits =>
  isShuffled ? patienceForShuffled : patience

/** Whether a pass saw rows twice although the total did not change. */
export function isShuffled({ isSteady, shown, below }: ShownByPass, inLastPass: number): boolean {
  const { rows, old } = shown ?? { rows: 0, old: 0 }
  return isSteady && inLastPass < rows - (below > 0 ? old : 0)
}

interface ShownByPass {
  readonly isSteady: boolean
  readonly shown: { readonly rows: number; readonly old: number } | undefined
  readonly below: number
}

/** Records that must count to prove a pass start. */
const expectedOf = ({ total }: PassStart, excluded: number): number => Math.max(0, total - excluded)

/** Reject a pass whose total is below half of the ids seen: the service was returning an empty list for a while. */
export const isPlausible = ({ total }: PassStart, ids: number): boolean => ids <= 2 * total

/**
 * The newest proved pass start. An inferred page size looks the same as too low a total: then the scan may not have
 * seen more ids than the total.
 */
export function provedStart(figures: PassFigures): PassStart | undefined {
  const { starts, counted, excluded, ids, contradiction, isSizeInferred = false } = figures
  if (contradiction !== undefined) return undefined
  const isEnough = (start: PassStart, index: number): boolean =>
    (counted[index] ?? 0) >= expectedOf(start, excluded)
  return starts.findLast(
    (start, index) =>
      isEnough(start, index) && isPlausible(start, ids) && !(isSizeInferred && ids > start.total),
  )
}

/** Decides at the end of a pass; `shortfalls` are the records missing from each pass so far, including this one. */
export function judge(
  figures: Pick<PassFigures, 'attempt' | 'isShuffled' | 'contradiction'>,
  proved: PassStart | undefined,
  shortfalls: readonly number[],
): ScanDecision {
  if (proved) return 'accepted'
  const { maxPasses, maxIdlePasses } = patienceFor(figures)
  // No recent pass came closer than the earlier ones.
  const isIdle = Math.min(...shortfalls.slice(0, -maxIdlePasses)) === Math.min(...shortfalls)
  const goesOn = figures.contradiction === undefined && figures.attempt < maxPasses && !isIdle
  return goesOn ? 'scan again' : 'refused'
}

/** Records seen and expected: for the proved pass start, or for the one with the smallest shortfall. */
export function seenAndExpected(figures: PassFigures): { readonly seen: number; readonly expected: number } {
  const { starts, counted, excluded } = figures
  const found = starts.map((start, index) => ({
    seen: counted[index] ?? 0,
    expected: expectedOf(start, excluded),
  }))
  const shortfallOf = ({ seen, expected }: { seen: number; expected: number }): number =>
    Math.max(0, expected - seen)
  const unknown = { seen: figures.ids, expected: figures.total }
  return found.reduce(
    (best, one) => (shortfallOf(one) <= shortfallOf(best) ? one : best),
    found[0] ?? unknown,
  )
}

/** What the last pass found in a list that may hide rows; `ids` counts all passes, `inLastPass` only the last. */
export interface HiddenRows {
  readonly attempt: number
  readonly ids: number
  readonly inLastPass: number
  /** Rows that earlier scans found hidden; undefined when there were none. */
  readonly known: number | undefined
  /** Passes in a row, up to this one, with no new id and the same total at the start. */
  readonly still?: number
  /** For the scan so far, as in PassFigures. */
  readonly isShuffled?: boolean
}

/**
 * By this attempt, pages have had two sizes, so a page that is always short would have missed different records. From
 * here on, the page after the last is requested as well: rows on it are not hidden, pages are just smaller.
 */
export const otherSizes = 5

/**
 * Counts the rows that the service counts but shows on no page, because it drops them after it has cut the pages.
 * Plausible only if passes with different page sizes saw the same ids, each on one page, while the total did not
 * change. If ties come in any order, a pass shows each id once only by chance: then no new id may come in as many
 * passes as would end the scan. Never accepts more hidden rows than shown: only an operator can know that.
 */
export function hiddenRows(pass: PassShortfall, hiding: HiddenRows): number {
  const { attempt, ids, inLastPass, known, still = 0, isShuffled = false } = hiding
  const { start, below, lastTotal } = pass
  const { missing } = pass.shown ?? { missing: 0 }
  // An empty list does not count as one that hides all of its rows.
  if (!missing || !start || lastTotal !== start.total || (ids === 0 && below === 0)) return 0
  if (missing <= (known ?? 0)) return missing
  const shown = start.total - below - missing
  // A list does not hide half of its rows: pages are smaller than they seem.
  if (shown < missing) return 0
  const isSame = still >= (isShuffled || inLastPass !== shown ? patienceForShuffled.maxIdlePasses : 2)
  return attempt >= otherSizes && ids === shown && isSame ? missing : 0
}

interface PassShortfall {
  /** Rows missing from full pages; undefined if not counted. */
  readonly shown: { readonly missing: number } | undefined
  readonly start?: PassStart
  readonly below: number
  readonly lastTotal: number
}

/**
 * If every page reported the same total, a loaded scan may count records up to the watermark itself. At worst it misses
 * a record within the lookback that was committed late: the next scan reads these again. A sweep may not do this, since
 * no later scan makes up for it.
 */
export function steadyStart({
  isSteady,
  start,
}: PassSteadiness): { readonly pass: number; readonly before: number }[] {
  if (!isSteady || !start || start.watermark === null) return []
  return [{ pass: start.pass, before: Date.parse(start.watermark) }]
}

interface PassSteadiness {
  readonly isSteady: boolean
  readonly start?: PassStart
}

/** `counted` has one count for each start, and one more if the last start is also steady; the larger of the two wins. */
export function withSteady(starts: readonly PassStart[], counted: readonly number[]): number[] {
  const own = counted.slice(0, starts.length)
  const steady = counted[starts.length]
  if (steady === undefined) return own
  return own.map((count, index) => (index === starts.length - 1 ? Math.max(count, steady) : count))
}
