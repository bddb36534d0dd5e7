/** What a loaded scan of a list is to read, and what it ends with. */
import { pageLimit as mostRows } from '../../api/client/paging.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { PassState } from '../paging/pass-state.ts'
import { type Decision, judge, type PassFigures, provedBase } from '../paging/proof.ts'
import type { Progress } from '../paging/scan.ts'
import type { Paging } from './collection-window.ts'
import type { ListRequest } from './list-pages.ts'
import { digestsText } from './same-rows.ts'

export interface LoadedScanJob extends ListRequest {
  /** Page to begin with when nothing of the scan is read yet. */
  readonly beginAt: number
  /** The list is filtered by updatedAt. */
  readonly isFiltered?: boolean
  /** Of a list that is read in windows: pages of the windows before, and of all, as far as known. */
  readonly pagesBefore?: number
  readonly pagesInAll?: number
  /** The list has rows, by an answer before. */
  readonly hasRows?: boolean
  /** Rows of a full page, and those to ask for, as earlier scans have learnt. */
  readonly pageSize?: number
  readonly pageLimit?: number
  /** Ledger rows that belong to the end of the scan, on the connection of the transaction of its last batch. */
  readonly accepted?: (engine: Engine, end: ScanEnd) => Promise<void>
}

export interface ScanEnd {
  /** The watermark that the scan has proved, as the service wrote it. */
  readonly watermark: string | null
  /** Records of the list when it was read. */
  readonly total: number
  /** Digests of the rows of its pages, for the next scan; null where that may not rely on them. */
  readonly digests: string | null
}

type JobPart = Pick<LoadedScanJob, 'row' | 'known' | 'isFiltered'>

/** Whether the scan reads every record of the list. */
export const isWholeList = ({ row, known, isFiltered }: JobPart): boolean =>
  known === undefined && !isFiltered && row.from_day === null && row.to_day === null

/** An empty list is read whole again until it has rows: nothing is lost where one is shown as empty. */
export const isFirstReading = (job: JobPart): boolean => isWholeList(job) && job.row.scope === null

interface FirstAnswer {
  readonly page: number
  readonly total: number
  readonly empty: boolean
}

/** Days without records, a whole list that had some, or changes without the record of the watermark: asked for again. */
export function isDoubtful(
  { page, total, empty }: FirstAnswer,
  { bases, pass }: Progress,
  job: JobPart & Pick<LoadedScanJob, 'hasRows'>,
): boolean {
  const isFirst = page === 1 && bases.length === 0 && pass.furthest === 0
  return isFirst && empty && total === 0 && (!isFirstReading(job) || job.hasRows === true)
}

/** Whether a filtered list counts rows that it does not show: the whole list may show them. */
export const isHiddenByFilter = ({ hidden }: Pick<PassFigures, 'hidden'>, job: JobPart): boolean =>
  job.isFiltered === true && hidden > 0

/** What the end of a pass decides about its scan. */
export function judgeLoaded(figures: PassFigures, job: JobPart, lacks: readonly number[]): Decision {
  return isHiddenByFilter(figures, job) ? 'refused' : judge(figures, provedBase(figures), lacks)
}

/** What an accepted scan leaves to the next one: the watermark of the pass start that is proved, no other. */
export function endOf(
  pass: PassState,
  figures: PassFigures,
  digests: readonly (string | undefined)[],
): ScanEnd {
  // Where totals are too low, the first page of the pass has shown more of the list than its last answer says.
  const shown = pass.isCapped ? (pass.base?.total ?? 0) : 0
  return {
    watermark: provedBase(figures)?.watermark ?? null,
    total: Math.max(pass.lastTotal, shown),
    digests: digestsText(digests),
  }
}

/** What an accepted scan has learnt of the list, and what was known before it. */
export function learntOf(
  pass: PassState,
  { hidden }: Pick<PassFigures, 'hidden'>,
  job: LoadedScanJob,
): { readonly learnt: Paging; readonly before: Paging } {
  const { pageSize = mostRows, pageLimit = mostRows, hiddenRows = 0 } = job
  // A part of the list shows a part of the rows that it hides.
  const hides = isWholeList(job) ? hidden : Math.max(hiddenRows, hidden)
  return {
    learnt: { pageSize: pass.usual, pageLimit: pass.limit, hiddenRows: hides },
    before: { pageSize, pageLimit, hiddenRows },
  }
}
