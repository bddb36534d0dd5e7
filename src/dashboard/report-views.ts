/** What a report can be filtered by: every page for one filter at a time, worked out when it is written. */
import { utcDay } from '../lib/dates.ts'
import {
  answerPanel,
  type Choice,
  type Choices,
  choicesIn,
  type PageAnswer,
  type PanelAnswer,
} from './answers.ts'
import { type FilteredBy, filteredBy } from './filter-names.ts'
import type { Filters } from './filters.ts'
import { pages } from './pages/pages.ts'
import type { MartReader, Marts } from './reader.ts'
import { panelStatement } from './statement.ts'

/** A panel under a filter, one for each currency; without `changed` its rows are those of the report as a whole. */
export interface PanelUnder {
  readonly ignored: readonly string[]
  readonly changed?: readonly Pick<PanelAnswer, 'sql' | 'rows' | 'failure' | 'currency'>[]
}

/** By the id of the panel. */
export type ViewPanels = Readonly<Record<string, PanelUnder>>

export interface Views {
  /** By the filter as it stands in an address: `agency=ID`, `from=2026-08-01`. */
  readonly views: Readonly<Record<string, ViewPanels>>
  readonly choices: Choices
  /** Names of the filters of which only the largest members are here. */
  readonly cut: readonly FilteredBy[]
  readonly periods: readonly Choice[]
}

/** Each costs the statements of every page, and some 100 kB. */
const mostMembers = 12
/** A mail takes a file of this size. */
const mostBytes = 8_000_000

const weeksBack = [4, 13, 52]

/** Those with the highest cost, else the first by name. */
async function largest(
  marts: Marts,
  name: FilteredBy,
  { all, most }: { all: readonly Choice[]; most: number },
): Promise<readonly Choice[]> {
  if (all.length <= most) return all
  if (!marts.columns.get('labour_spend_weekly')?.has(`${name}_id`)) return all.slice(0, most)
  const rows = await marts.rows(
    `select ${name}_id as id from mart.labour_spend_weekly group by ${name}_id
     order by sum(cost_value) desc nulls last, ${name}_id limit ${most}`,
  )
  const ids = new Set(rows.map(({ id }) => id))
  return all.filter(({ id }) => ids.has(id))
}

async function panelsUnder(marts: Marts, whole: Filters, filters: Filters): Promise<ViewPanels> {
  const found: [string, PanelUnder][] = []
  for (const panel of pages.flatMap(page => page.panels)) {
    const { shown } = panelStatement(panel, whole, marts.columns)
    if (panelStatement(panel, filters, marts.columns).shown === shown) {
      const { ignored } = panelStatement(panel, filters, marts.columns)
      found.push([panel.id, { ignored: panel.sql.includes('{where}') ? ignored : [] }])
    } else {
      const answers = await answerPanel(marts, panel, filters)
      const changed = answers.map(({ sql, rows, failure, currency }) => ({ sql, rows, failure, currency }))
      found.push([panel.id, { ignored: answers[0]?.ignored ?? [], changed }])
    }
  }
  return Object.fromEntries(found)
}

/** Days from which on the last weeks count; none where the report has dates of its own. */
function periodsOf({ from, to }: Filters, asOf: string | null): Choice[] {
  if (asOf === null || from !== undefined || to !== undefined) return []
  return weeksBack.map(weeks => ({
    id: utcDay(asOf, -7 * weeks),
    name: `Last ${weeks} weeks`,
  }))
}

interface Offered {
  readonly query: string
  readonly filters: Filters
}

const offeredBy = (whole: Filters, choices: Choices, periods: readonly Choice[]): Offered[] => [
  ...periods.map(({ id }) => ({ query: `from=${id}`, filters: { ...whole, from: id } })),
  ...filteredBy.flatMap(name =>
    choices[name].map(({ id }) => ({
      query: String(new URLSearchParams({ [name]: id })),
      filters: { ...whole, ids: { ...whole.ids, [name]: [id] } },
    })),
  ),
]

interface Wanted {
  readonly whole: Filters
  readonly asOf: PageAnswer['asOf']
  /** How many members of each dimension are offered. */
  readonly members?: number
}

/** A dimension that the report as a whole is filtered by offers nothing more. */
async function membersOffered(
  marts: Marts,
  { whole, members: most = mostMembers }: Wanted,
): Promise<Pick<Views, 'choices' | 'cut'>> {
  const choices = { ...(await choicesIn(marts)) }
  const cut: FilteredBy[] = []
  for (const name of filteredBy) {
    const all = whole.ids[name] ? [] : choices[name]
    choices[name] = [...(await largest(marts, name, { all, most }))]
    if (choices[name].length < all.length) cut.push(name)
  }
  return { choices, cut }
}

export const viewsOf = (reader: MartReader, wanted: Wanted): Promise<Views> =>
  reader.read(async marts => {
    const { whole, asOf } = wanted
    const { choices, cut } = await membersOffered(marts, wanted)
    const periods = periodsOf(whole, asOf)
    const views: Record<string, ViewPanels> = {}
    let bytes = 0
    for (const { query, filters } of offeredBy(whole, choices, periods)) {
      const panels = await panelsUnder(marts, whole, filters)
      bytes += JSON.stringify(panels).length
      if (bytes > mostBytes) break
      views[query] = panels
    }
    const isThere = (name: string, { id }: Choice): boolean =>
      String(new URLSearchParams({ [name]: id })) in views
    const kept = filteredBy.map(name => [name, choices[name].filter(one => isThere(name, one))] as const)
    const short = kept.filter(([name, members]) => members.length < choices[name].length)
    return {
      views,
      choices: Object.fromEntries(kept) as unknown as Choices,
      cut: [...new Set([...cut, ...short.map(([name]) => name)])],
      periods: periods.filter(one => isThere('from', one)),
    }
  })
