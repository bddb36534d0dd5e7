/** The answers that the page gets: the panels of a page, the rows behind one of them, and what filters can be set to. */
import { MusterError } from '../lib/errors.ts'
import { type FilteredBy, filteredBy } from './filter-names.ts'
import { type Filters, noFilters } from './filters.ts'
import type { Figure, Page, Panel } from './panel.ts'
import type { MartReader, Marts } from './reader.ts'
import { type Chosen, panelStatement, rowsStatement, type Statement } from './statement.ts'

export type Row = Readonly<Record<string, unknown>>

export interface PanelAnswer {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly mart: string
  readonly show: Panel['show']
  readonly drillBy: readonly string[] | null
  readonly empty: string
  readonly isWide: boolean
  readonly sql: string
  /** Of its amounts, where amounts of several are in the view: each has a panel of its own. */
  readonly currency: string | null
  /** Filters that are set and that the mart has no column for. */
  readonly ignored: readonly string[]
  readonly rows: readonly Row[]
  /** Why there are no rows, in a sentence for people; null when the statement ran. */
  readonly failure: string | null
}

export interface PageAnswer {
  readonly id: string
  readonly title: string
  readonly question: string
  /** Until when the service was read; null before the first sync. */
  readonly asOf: string | null
  readonly panels: readonly PanelAnswer[]
}

export interface Choice {
  readonly id: string
  readonly name: string
}

export type Choices = Readonly<Record<FilteredBy, readonly Choice[]>>

export interface RowsAnswer {
  readonly mart: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly sql: string
  readonly ignored: readonly string[]
  /** Whether there are more rows than these. */
  readonly isCut: boolean
}

/** The first line of what an engine says, without the place in the statement. */
const inShort = (error: Error): string => (error.message.split('\n')[0] ?? '').slice(0, 300)

/** A mart that is not built, or is of an older program, costs its own panel only. */
function failureOf(panel: Panel, marts: Marts, error: unknown): string {
  if (!(error instanceof Error) || error.name === 'AbortError') throw error
  if (!marts.columns.has(panel.mart))
    return `mart.${panel.mart} is not there, or this user may not read it: run muster build, or ask for rights to schema mart.`
  return `${inShort(error)}. Run muster build: the marts may be of an older release.`
}

const figuresOf = ({ show }: Panel): readonly Figure[] => {
  if ('figures' in show) return show.figures
  return 'figure' in show ? [show.figure] : []
}

/** Currencies of the rows behind its amounts, which never add up; none where it has no amounts, or no currency is told. */
async function currenciesOf(marts: Marts, panel: Panel, filters: Filters): Promise<readonly string[]> {
  const hasMoney = figuresOf(panel).some(({ unit }) => unit === 'money')
  if (!hasMoney || !marts.columns.get(panel.mart)?.has('currency')) return []
  const sql = `select distinct currency from mart.${panel.mart} where {where} order by currency`
  const { sql: text, values } = panelStatement({ ...panel, sql }, filters, marts.columns)
  return (await marts.rows(text, values)).map(({ currency }) => String(currency))
}

interface Asked {
  readonly panel: Panel
  readonly filters: Filters
  readonly currency: string | null
}

type Told = Omit<PanelAnswer, 'rows' | 'failure'>

function toldOf({ panel, currency }: Asked, { shown, ignored }: Statement): Told {
  const { id, title, about, mart, show, empty, isWide = false, drill } = panel
  return {
    ...{ id, title, about, mart, show, empty, isWide, currency },
    drillBy: drill?.by ?? null,
    sql: shown,
    ignored: panel.sql.includes('{where}') ? ignored : [],
  }
}

async function answerOne(marts: Marts, asked: Asked): Promise<PanelAnswer> {
  const { panel, filters, currency } = asked
  const only = currency === null ? filters : { ...filters, currency }
  const statement = panelStatement(panel, only, marts.columns)
  return {
    ...toldOf(asked, statement),
    rows: await marts.rows(statement.sql, statement.values),
    failure: null,
  }
}

/** One answer, or one for each currency of its amounts. */
export async function answerPanel(marts: Marts, panel: Panel, filters: Filters): Promise<PanelAnswer[]> {
  const statement = panelStatement(panel, filters, marts.columns)
  try {
    const currencies = await currenciesOf(marts, panel, filters)
    const apart = currencies.length > 1 ? currencies : [null]
    const answers: PanelAnswer[] = []
    for (const currency of apart) answers.push(await answerOne(marts, { panel, filters, currency }))
    return answers
  } catch (error) {
    const told = toldOf({ panel, filters, currency: null }, statement)
    return [{ ...told, rows: [], failure: failureOf(panel, marts, error) }]
  }
}

async function asOf(marts: Marts): Promise<string | null> {
  if (!marts.columns.get('data_health')?.has('as_of')) return null
  const [row] = await marts.rows('select max(as_of) as as_of from mart.data_health')
  return typeof row?.as_of === 'string' ? row.as_of : null
}

export const answerPage = (reader: MartReader, page: Page, filters: Filters): Promise<PageAnswer> =>
  reader.read(async marts => {
    const panels: PanelAnswer[] = []
    for (const panel of page.panels) panels.push(...(await answerPanel(marts, panel, filters)))
    const { id, title, question } = page
    return { id, title, question, asOf: await asOf(marts), panels }
  })

/** More would not fit a list that people choose from. */
const mostChoices = 2000

async function choicesOf(marts: Marts, name: FilteredBy): Promise<Choice[]> {
  const columns = marts.columns.get(`dim_${name}`)
  if (!columns?.has(`${name}_name`)) return []
  const rows = await marts.rows(
    `select ${name}_id as id, coalesce(${name}_name, ${name}_id) as name from mart.dim_${name}
     where not is_deleted order by name, id limit ${mostChoices}`,
  )
  return rows.map(({ id, name }) => ({ id: String(id), name: id === '-1' ? 'Unknown' : String(name) }))
}

export async function choicesIn(marts: Marts): Promise<Record<FilteredBy, readonly Choice[]>> {
  const found: (readonly [FilteredBy, Choice[]])[] = []
  for (const name of filteredBy) found.push([name, await choicesOf(marts, name)])
  return Object.fromEntries(found) as unknown as Record<FilteredBy, readonly Choice[]>
}

export const answerChoices = (reader: MartReader): Promise<Choices> => reader.read(choicesIn)

export interface RowsAsked {
  readonly panel: Panel
  readonly filters?: Filters
  readonly chosen: Chosen
  readonly limit: number
}

export const answerRows = (
  reader: MartReader,
  { panel, filters = noFilters, chosen, limit }: RowsAsked,
): Promise<RowsAnswer> =>
  reader.read(async marts => {
    const mart = panel.drill?.mart ?? panel.mart
    const columns = marts.columns.get(mart)
    if (!columns) throw new MusterError({ what: `mart.${mart} is not built`, next: 'run muster build' })
    // One row more than shown tells whether there are more.
    const asked = { filters, chosen, limit: limit + 1 }
    const statement = rowsStatement(panel, asked, marts.columns)
    const rows = await marts.rows(statement.sql, statement.values)
    return {
      mart,
      columns: [...columns],
      rows: rows.slice(0, limit),
      sql: statement.shown.replace(/limit \d+$/, () => `limit ${limit}`),
      ignored: statement.ignored,
      isCut: rows.length > limit,
    }
  })
