/** `--out report.html`: every page in one file that asks no network for anything. */
import { answerPage, type PageAnswer } from './answers.ts'
import { type Filters, namesSet } from './filters.ts'
import { pages } from './pages/pages.ts'
import type { MartReader } from './reader.ts'
import { hashOf, readWebFiles, shell } from './web-files.ts'

/** What a report carries instead of a server. */
export interface ReportData {
  readonly madeAt: string
  readonly filtered: readonly string[]
  readonly pages: readonly PageAnswer[]
}

/** As JSON inside a script element: no text of it can end the element. */
const embedded = (data: ReportData): string => JSON.stringify(data).replaceAll('<', '\\u003c')

/** The policy lets the one script run, by its hash, and nothing be fetched. */
export async function writeReport(
  reader: MartReader,
  { filters, madeAt }: { filters: Filters; madeAt: string },
): Promise<string> {
  const answers: PageAnswer[] = []
  for (const page of pages) answers.push(await answerPage(reader, page, filters))
  const { script, style } = readWebFiles()
  const data = embedded({ madeAt, filtered: namesSet(filters), pages: answers })
  const inline = script.replaceAll('</script', '<\\/script')
  const policy = `default-src 'none'; script-src ${hashOf(inline)}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`
  return shell({
    head: `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>`,
    end: `<script type="application/json" id="report">${data}</script>\n<script>${inline}</script>`,
  })
}
