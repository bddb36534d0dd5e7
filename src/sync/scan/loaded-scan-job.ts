/** What a loaded scan of a list is to read, and what it ends with. */
import type { Engine } from '../../warehouse/engine.ts'
import type { ListRequest } from './list-pages.ts'

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
