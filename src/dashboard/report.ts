/** `--out report.html`: every page in one file that asks no network for anything. */
import { answerChoices, answerPage, type Choices, type PageAnswer } from './answers.ts'
import { filteredBy } from './filter-names.ts'
import type { Filters } from './filters.ts'
import { pages } from './pages/pages.ts'
import type { MartReader } from './reader.ts'
import { type Views, viewsOf } from './report-views.ts'
import { hashOf, readWebFiles, shell } from './web-files.ts'

/** What a report carries instead of a server. */
export interface ReportData extends Views {
  readonly madeAt: string
  /** The filters of the report as a whole, in words. */
  readonly filtered: readonly string[]
  readonly pages: readonly PageAnswer[]
}

function inWords({ ids, from, to }: Filters, choices: Choices): string[] {
  const named = filteredBy.flatMap(name =>
    (ids[name] ?? []).map(id => `${name} ${choices[name].find(one => one.id === id)?.name ?? id}`),
  )
  return [...named, ...(from ? [`from ${from}`] : []), ...(to ? [`to ${to}`] : [])]
}

/** As JSON inside a script element: no text of it can end the element. */
const embedded = (data: ReportData): string => JSON.stringify(data).replaceAll('<', '\\u003c')

/** `members`: how many of each dimension can be chosen. The policy lets the one script run, by its hash, and nothing be fetched. */
export async function writeReport(
  reader: MartReader,
  { filters, madeAt, members }: { filters: Filters; madeAt: string; members?: number },
): Promise<string> {
  const answers: PageAnswer[] = []
  for (const page of pages) answers.push(await answerPage(reader, page, filters))
  const { script, style } = readWebFiles()
  const views = await viewsOf(reader, {
    whole: filters,
    asOf: answers[0]?.asOf ?? null,
    ...(members !== undefined && { members }),
  })
  const filtered = inWords(filters, await answerChoices(reader))
  const data = embedded({ madeAt, filtered, pages: answers, ...views })
  const inline = script.replaceAll('</script', '<\\/script')
  const policy = `default-src 'none'; script-src ${hashOf(inline)}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`
  return shell({
    head: `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>`,
    end: `<script type="application/json" id="report">${data}</script>\n<script>${inline}</script>`,
  })
}
