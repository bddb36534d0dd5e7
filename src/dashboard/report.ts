/**
 * Writes `--out report.html`: every page in one file that needs no network. Readers can set one filter at a time:
 * every page is computed under each filter beforehand.
 */
import { utcDay } from '../lib/dates.ts'
import {
  answerChoices,
  answerPage,
  answerPanel,
  choicesIn,
  comparedIn,
  type FilterChoice,
  type FilterChoices,
  type PageAnswer,
  type PanelAnswer,
} from './answers.ts'
import { defaultPerspective, type FilteredBy, type Filters, filteredBy, perspectives } from './filters.ts'
import { pages } from './pages/pages.ts'
import type { DashboardPage } from './panel.ts'
import type { MartReader, Marts } from './reader.ts'
import { panelStatement } from './statement.ts'
import { hashOf, readWebFiles, shell } from './web-files.ts'

type ChangedFact =
  | 'about'
  | 'sql'
  | 'rows'
  | 'failure'
  | 'currency'
  | 'amountsIn'
  | 'perspective'
  | 'isCompared'

/** A panel under a filter, one for each currency; without `changed` it has the rows of the unfiltered report. */
interface PanelUnder {
  readonly ignored: readonly string[]
  readonly changed?: readonly Pick<PanelAnswer, ChangedFact>[]
}

/** By the id of the panel. */
export type ViewPanels = Readonly<Record<string, PanelUnder>>

export interface Views {
  /** By the filter as written in an address: `agency=ID`, `from=2026-08-01`. */
  readonly views: Readonly<Record<string, ViewPanels>>
  readonly choices: FilterChoices
  /** Filters that offer only their largest members. */
  readonly cut: readonly FilteredBy[]
  readonly periods: readonly FilterChoice[]
}

/** Each member costs the statements of every page, and some 100 kB. */
const maxMembers = 12
/** A file of this size still fits an e-mail. */
const maxBytes = 8_000_000

const weeksBack = [4, 13, 52]

/** The members with the highest cost, else the first by name. */
async function largest(
  marts: Marts,
  name: FilteredBy,
  { all, max }: { all: readonly FilterChoice[]; max: number },
): Promise<readonly FilterChoice[]> {
  if (all.length <= max) return all
  if (!marts.columns.get('labour_spend_weekly')?.has(`${name}_id`)) return all.slice(0, max)
  const rows = await marts.rows(
    `select ${name}_id as id from mart.labour_spend_weekly group by ${name}_id
     order by sum(cost_value) desc nulls last, ${name}_id limit ${max}`,
  )
  const ids = new Set(rows.map(({ id }) => id))
  return all.filter(({ id }) => ids.has(id))
}

interface AskedView {
  readonly pages: readonly DashboardPage[]
  readonly reportFilters: Filters
  readonly filters: Filters
}

async function panelsUnder(
  marts: Marts,
  { pages: shownPages, reportFilters, filters }: AskedView,
): Promise<ViewPanels> {
  const found: [string, PanelUnder][] = []
  const compared = await comparedIn(marts, filters)
  const comparison = compared && 'shift' in compared ? compared : undefined
  for (const panel of shownPages.flatMap(page => page.panels)) {
    const { shown } = panelStatement(panel, reportFilters, marts.columns)
    if (panelStatement(panel, filters, marts.columns).shown === shown) {
      const { ignored } = panelStatement(panel, filters, marts.columns)
      found.push([panel.id, { ignored: panel.sql.includes('{where}') ? ignored : [] }])
    } else {
      const answers = await answerPanel(marts, panel, { filters, comparison })
      const changed = answers.map(
        ({ about, sql, rows, failure, currency, amountsIn, perspective, isCompared }) => ({
          ...{ about, sql, rows, failure, currency, amountsIn, perspective, isCompared },
        }),
      )
      found.push([panel.id, { ignored: answers[0]?.ignored ?? [], changed }])
    }
  }
  return Object.fromEntries(found)
}

/** First days of the last weeks to offer; none if the report has its own dates. */
function periodsOf({ from, to }: Filters, asOf: string | null): FilterChoice[] {
  if (asOf === null || from !== undefined || to !== undefined) return []
  return weeksBack.map(weeks => ({
    id: utcDay(asOf, -7 * weeks),
    name: `Last ${weeks} weeks`,
  }))
}

interface OfferedView {
  readonly query: string
  readonly filters: Filters
}

const offeredBy = (
  reportFilters: Filters,
  choices: FilterChoices,
  periods: readonly FilterChoice[],
): OfferedView[] => [
  ...periods.map(({ id }) => ({ query: `from=${id}`, filters: { ...reportFilters, from: id } })),
  ...perspectives
    .filter(perspective => perspective !== (reportFilters.perspective ?? defaultPerspective))
    .map(perspective => ({
      query: `perspective=${perspective}`,
      filters: { ...reportFilters, perspective },
    })),
  ...filteredBy.flatMap(name =>
    choices[name].map(({ id }) => ({
      query: String(new URLSearchParams({ [name]: id })),
      filters: { ...reportFilters, ids: { ...reportFilters.ids, [name]: [id] } },
    })),
  ),
]

interface WantedViews {
  readonly pages: readonly DashboardPage[]
  readonly reportFilters: Filters
  readonly asOf: PageAnswer['asOf']
  /** How many members of each dimension are offered. */
  readonly members?: number
}

/** Offers no members of a dimension that already filters the whole report. */
async function membersOffered(
  marts: Marts,
  { reportFilters, members: max = maxMembers }: WantedViews,
): Promise<Pick<Views, 'choices' | 'cut'>> {
  const choices = { ...(await choicesIn(marts)) }
  const cut: FilteredBy[] = []
  for (const name of filteredBy) {
    const all = reportFilters.ids[name] ? [] : choices[name]
    choices[name] = [...(await largest(marts, name, { all, max }))]
    if (choices[name].length < all.length) cut.push(name)
  }
  return { choices, cut }
}

const viewsOf = (reader: MartReader, wanted: WantedViews): Promise<Views> =>
  reader.read(async marts => {
    const { pages: shownPages, reportFilters, asOf } = wanted
    const { choices, cut } = await membersOffered(marts, wanted)
    const periods = periodsOf(reportFilters, asOf)
    const views: Record<string, ViewPanels> = {}
    let bytes = 0
    for (const { query, filters } of offeredBy(reportFilters, choices, periods)) {
      const panels = await panelsUnder(marts, { pages: shownPages, reportFilters, filters })
      bytes += JSON.stringify(panels).length
      if (bytes > maxBytes) break
      views[query] = panels
    }
    const isThere = (name: string, { id }: FilterChoice): boolean =>
      String(new URLSearchParams({ [name]: id })) in views
    const available = filteredBy.map(name => [name, choices[name].filter(one => isThere(name, one))] as const)
    const short = available.filter(([name, members]) => members.length < choices[name].length)
    return {
      views,
      choices: Object.fromEntries(available) as unknown as FilterChoices,
      cut: [...new Set([...cut, ...short.map(([name]) => name)])],
      periods: periods.filter(one => isThere('from', one)),
    }
  })

/** Data that replaces the server in a report. */
export interface ReportData extends Views {
  readonly madeAt: string
  /** Filters of the whole report, in words. */
  readonly filtered: readonly string[]
  readonly pages: readonly PageAnswer[]
}

function inWords({ ids, from, to }: Filters, choices: FilterChoices): string[] {
  const named = filteredBy.flatMap(name =>
    (ids[name] ?? []).map(id => `${name} ${choices[name].find(one => one.id === id)?.name ?? id}`),
  )
  return [...named, ...(from ? [`from ${from}`] : []), ...(to ? [`to ${to}`] : [])]
}

/** JSON for a script element: no text in it can end the element. */
const embedded = (data: ReportData): string => JSON.stringify(data).replaceAll('<', '\\u003c')

interface ReportParts {
  /** Without it, all of them. */
  readonly pages?: readonly DashboardPage[]
  readonly filters: Filters
  readonly madeAt: string
  /** How many members of each dimension can be chosen. */
  readonly members?: number
}

/**
 * The policy allows only the one script, by its hash, and no
 * requests.
 */
export async function writeReport(
  reader: MartReader,
  { pages: shownPages = pages, filters, madeAt, members }: ReportParts,
): Promise<string> {
  const answers: PageAnswer[] = []
  for (const page of shownPages) answers.push(await answerPage(reader, page, filters))
  const { script, style } = readWebFiles()
  const views = await viewsOf(reader, {
    pages: shownPages,
    reportFilters: filters,
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
