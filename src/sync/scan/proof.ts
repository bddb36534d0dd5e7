/** Whether a pass proves that its scan has seen every record of the list: the only place that decides it. */

/** The figures of one pass, which is one reading of the pages of a scan. */
export interface PassFigures {
  readonly kind: 'backfill' | 'incremental' | 'snapshot' | 'sweep'
  /** Read to the first page; false for a pass that ended where it met rows that an earlier scan had read. */
  readonly isWhole: boolean
  /** Number of the pass within its scan, from 1. */
  readonly attempt: number
  readonly pages: number
  /** Totals that the service gave: with the first data page, the least, the greatest, and with the last page. */
  readonly firstTotal: number
  readonly leastTotal: number
  readonly greatestTotal: number
  readonly lastTotal: number
  /** Different ids: of all passes of the scan, in a sweep of this pass alone. */
  readonly distinctIds: number
  /** Rows on the pages, repeated ones included; undefined where pages are not parsed. */
  readonly rows?: number
  /** Equal for equal rows in any order. */
  readonly digest?: string
  /** Set when two passes in a row must show the same rows: the digest of the one before. */
  readonly previousDigest?: string
}

export type Decision = 'accepted' | 'scan again' | 'refused'

/** A window that never settles is left for the next night; what it read is loaded. */
export const mostPasses = { backfill: 6, incremental: 6, snapshot: 4, sweep: 6 } as const

/**
 * How many ids must have been seen: in one pass, as many as the service ever claimed. Over several passes, in which a row
 * that one of them missed because it changed was seen by another, as many as there were when the last of them began: rows
 * that came later are newer than the watermark.
 */
export function expectedIds({ kind, attempt, firstTotal, greatestTotal }: PassFigures): number {
  return kind === 'sweep' || attempt === 1 ? greatestTotal : firstTotal
}

/** Sweep passes that need every id ever claimed; those after them allow for rows that came meanwhile. */
const strictSweeps = 3
/** What may come while one window is swept before it looks as if parts of the list came and went. */
const growth = { rows: 3, share: 0.01 }

/**
 * Rows that come during a sweep stand behind its pass, so a list that grows all the time never meets its greatest total:
 * after three passes the total of the beginning will do, if it grew by little.
 */
function isSwept({ attempt, distinctIds, firstTotal, greatestTotal }: PassFigures): boolean {
  if (distinctIds >= greatestTotal) return true
  const most = Math.max(growth.rows, firstTotal * growth.share)
  return attempt > strictSweeps && distinctIds >= firstTotal && greatestTotal - firstTotal <= most
}

/** Every page gave the same total, and the rows add up to it. */
function isUnmoved({ leastTotal, greatestTotal, rows, digest, previousDigest }: PassFigures): boolean {
  const isWhole = leastTotal === greatestTotal && rows === greatestTotal
  return isWhole && (previousDigest === undefined || previousDigest === digest)
}

function isProved(figures: PassFigures): boolean {
  if (figures.kind === 'snapshot') return isUnmoved(figures)
  if (figures.kind === 'sweep') return isSwept(figures)
  return !figures.isWhole || figures.distinctIds >= expectedIds(figures)
}

/** To be asked at the end of each pass. */
export function judge(figures: PassFigures): Decision {
  if (isProved(figures)) return 'accepted'
  return figures.attempt < mostPasses[figures.kind] ? 'scan again' : 'refused'
}
