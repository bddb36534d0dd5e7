/** How many pages are loaded at once: memory stays flat, and a statement has enough rows to be worth it. */
import type { LandedPage } from '../../landing/folder.ts'

/**
 * Of records of 5 kB a batch holds 8,400, a row group and some: with less than one they would go into DuckDB's log first,
 * and then into the file.
 */
const batchBytes = 45_000_000
const batchPages = 82

export function isFullBatch(pages: readonly LandedPage[]): boolean {
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0)
  return bytes >= batchBytes || pages.length >= batchPages
}
