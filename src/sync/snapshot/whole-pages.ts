/**
 * The rows of a reading as the pages of one pass. A replay reads the pages that landed after the last first page, and only
 * where they are as many as the total says: rows of several passes, or of smaller pages, are put together for it.
 */
import { lastPage, pageLimit } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { recordTexts } from '../../load/page/stand-ins.ts'

export interface AskedPage {
  /** The pass that asked for it. */
  readonly pass: number
  readonly landed: LandedPage
  /** Of its rows. */
  readonly names: readonly string[]
  /** Rows of the list, as it says. */
  readonly total: number
}

/** Whether these pages are the last pass that landed, complete, with each row once and no row that does not count. */
export function isOnePass(
  asked: readonly AskedPage[],
  chosen: readonly AskedPage[],
  doesCount: (name: string) => boolean,
): boolean {
  const pass = asked.slice(asked.findLastIndex(({ landed }) => landed.page === 1))
  const names = chosen.flatMap(page => page.names)
  const isComplete = pass.length === chosen.length && pass.length === lastPage(pass[0]?.total ?? 0)
  return isComplete && pass[0] === chosen[0] && new Set(names).size === names.length && names.every(doesCount)
}

/** The JSON of each row that counts as it was received last. */
function textsOf(pages: readonly AskedPage[], doesCount: (name: string) => boolean): string[] {
  const texts = new Map<string, string>()
  for (const { landed, names } of pages)
    for (const [index, text] of recordTexts(pageBytes(landed)).entries()) {
      const name = names[index]
      if (name !== undefined && doesCount(name)) texts.set(name, text)
    }
  return [...texts.values()]
}

/** Bodies of pages with the rows that count, each once. */
export function wholePages(pages: readonly AskedPage[], doesCount: (name: string) => boolean): Buffer[] {
  const texts = textsOf(pages, doesCount)
  return Array.from({ length: lastPage(texts.length) }, (_, place) => {
    const rows = texts.slice(place * pageLimit, (place + 1) * pageLimit)
    const meta = JSON.stringify({ page: place + 1, limit: pageLimit, total: texts.length })
    return Buffer.from(`{"success":true,"data":[${rows.join(',')}],"meta":${meta}}`)
  })
}
