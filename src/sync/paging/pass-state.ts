/** How far a pass is, what it is told by an answer, and the rules that it follows. */
import { pageLimit } from '../../api/client/paging.ts'
import type { Base } from './proof.ts'

/** What the last answer was: asked to find out where to begin, the first data page of its pass, or a later one. */
export type Role = 'before' | 'front' | 'data'

export interface PassState {
  /** From 1. */
  readonly number: number
  /** Page to ask next; 0 when the pass is over. */
  readonly nextPage: number
  /** Rows of a full page, as the answers show. */
  readonly size: number
  /** The same for a pass that asks for as many rows as a pass usually does. */
  readonly usual: number
  /**
   * Rows that a pass usually asks for a page: as many as the service allows, or what its pages turned out to have. Pages with all
   * the rows that were asked for leave none out between them, which shorter ones can.
   */
  readonly limit: number
  /** Rows of the longest page so far of those that were asked for alike: no page is a full one with fewer. */
  readonly longest: number
  /** The last of these pages that had rows. */
  readonly furthest: number
  /** Answers in a row, up to the last one, that showed none of the rows that their page has by the total. */
  readonly hollow: number
  /** How often the pass has begun again because pages turned out to have another size, or the list to end elsewhere. */
  readonly sizes: number
  /** Data pages of the pass, without the pages that only told where to begin. */
  readonly pages: number
  readonly role: Role
  readonly base?: Base
  /** A pass whose moment counts for nothing: it began at a page that was not the last one, or found no end. */
  readonly voided?: number
  /** Number of the first pass that knows how small the pages are, and that totals are too low: earlier ones prove nothing. */
  readonly validSince: number
  /** Rows lay beyond the total, as if pages were smaller, and the scan asks for smaller ones since. */
  readonly isShrunk: boolean
  /** Data page that was answered last. */
  readonly last: number
  /** The page that was answered last had been asked for twice in a row: a scan of changes ends there. */
  readonly isSecond: boolean
  /** Page where the pass before this one ended; 0 when unknown. */
  readonly ended: number
  /** Greatest updatedAt on the first data pages so far, as the service wrote it. */
  readonly watermark: string | null
  readonly greatestTotal: number
  /** The total that the service said with the last answer. */
  readonly said: number
  /** With the last answer: what the service said, or what it showed if that is more. */
  readonly lastTotal: number
  /** Rows older than the known time below the end of the pass: earlier scans have read them. */
  readonly below: number
  /** Rows that full pages lacked; undefined once a page was not counted. */
  readonly lacking: number | undefined
  /** Rows of its data pages, and those of them that are older than what is known; undefined once a page was not counted. */
  readonly rows: number | undefined
  readonly oldRows: number
  /** Pages of this pass, or of one before it, had rows beyond the total. */
  readonly isCapped: boolean
  /** Every answer of the pass gave the same total. */
  readonly isSteady: boolean
  /** A smaller size of pages that one answer has claimed. */
  readonly doubted?: number
  readonly end: End
}

/** What earlier scans have read: an incremental scan ends where it meets it. */
export interface Known {
  /** Everything older than this, in milliseconds since the epoch. */
  readonly before: number
  /** The stored watermark: a last page that does not reach it is not the last. Milliseconds since the epoch. */
  readonly reached?: number
}

export interface Answer {
  readonly page: number
  readonly total: number
  /** Rows of a full page, as the service says. */
  readonly limit?: number
  readonly empty: boolean
  /** Smallest and greatest updatedAt on the page; absent when nobody looked or the page is empty. */
  readonly oldest?: string
  readonly newest?: string
  /** False when the rows are not in ascending order of updatedAt, so that an old row proves nothing. */
  readonly inOrder?: boolean
  /** Rows on the page; absent when nobody counted. */
  readonly rows?: number
  /** Rows of them that are older than what is known. */
  readonly old?: number
  /** Id of the first row. */
  readonly first?: string
}

/** Lists without a change time are read from the first page to the last. */
export type PageOrder = 'last to first' | 'first to last'

export interface PassRules {
  readonly order?: PageOrder
  readonly known?: Known | undefined
  /** How long after its time a record can appear, in milliseconds; see `existedBefore`. */
  readonly lookbackMs?: number
  /** Reads only the last page, and the page where the pass before it ended. */
  readonly isShort?: boolean
  /** Asks for the page after the last one, also where the total says that there is none. */
  readonly seeksEnd?: boolean
  /** The list hides rows that it counts: short pages are its habit. */
  readonly hidesRows?: boolean
  /** By the clock of the service, milliseconds since the epoch; undefined where it does not say. */
  readonly now?: number | undefined
}

/** What the answers of a pass have shown about where the list ends. */
export interface End {
  /** The total is too low: rows lie beyond it. */
  readonly isBeyond: boolean
  /** Greatest page known to be full, or to have rows behind it; least one known to be empty; 0 when unknown. */
  readonly full: number
  readonly empty: number
  /** Id of the first row of the page `full`. */
  readonly first?: string
  /** How often a short page turned out to have another one with rows behind it. */
  readonly missedEnds?: number
  /** The page asked last while the end was looked for, and the id of its first row. */
  readonly guess?: { readonly page: number; readonly first: string | undefined }
  /** The service answers the same rows for different pages. */
  readonly isRepeated?: boolean
  /** No smaller size of pages explains a short page. */
  readonly isSizeSearched: boolean
  /** A size of pages that is being tried, and the page to ask when it is wrong. */
  readonly tried?: { readonly size: number; readonly back: number }
  /** Set while the page after the last one is asked: the page to ask next when it is empty. */
  readonly back?: number | undefined
  /** Rows of that last page, where it is not full. */
  readonly short?: number | undefined
  /** That page; in a pass that goes forward, the page before. */
  readonly last?: SeenPage
}

export interface SeenPage {
  readonly page: number
  /** Id of its first row. */
  readonly first: string | undefined
  readonly rows?: number | undefined
}

export const unknownEnd: End = { isBeyond: false, full: 0, empty: 0, isSizeSearched: false }

export function beginPass(page: number, size: number = pageLimit, limit: number = pageLimit): PassState {
  return {
    number: 1,
    nextPage: page,
    size,
    usual: size,
    limit,
    longest: 0,
    furthest: 0,
    hollow: 0,
    sizes: 0,
    validSince: 0,
    isShrunk: false,
    pages: 0,
    role: 'before',
    last: 0,
    isSecond: false,
    ended: 0,
    watermark: null,
    greatestTotal: 0,
    said: 0,
    lastTotal: 0,
    below: 0,
    lacking: 0,
    rows: 0,
    oldRows: 0,
    isCapped: false,
    isSteady: true,
    end: unknownEnd,
  }
}

/** The pass that the page just answered counts for: one that only told where to begin was seen before its pass began. */
export function seenIn({ number, role }: PassState): { readonly pass: number; readonly isFront: boolean } {
  return { pass: role === 'before' ? number - 1 : number, isFront: role === 'front' }
}
