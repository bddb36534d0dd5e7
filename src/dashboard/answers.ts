/** Answers the page: the panels of a page, the rows behind a panel, and the choices of the filters. */
import { MusterError } from '../lib/errors.ts'
import {
  type Comparison,
  type ComparisonResult,
  comparedPeriod,
  isByWeek,
  isComparable,
  withBefore,
} from './comparison.ts'
import { type FilteredBy, type Filters, filteredBy, noFilters, type Perspective } from './filters.ts'
import type { DashboardPage, Panel, PanelFigure } from './panel.ts'
import { maxWeeksBack, type Period, periodsOf } from './periods.ts'
import type { MartReader, Marts } from './reader.ts'
import {
  type ChosenRow,
  type MartColumns,
  panelStatement,
  rowsStatement,
  type Statement,
  shownValues,
} from './statement.ts'

export type PanelRow = Readonly<Record<string, unknown>>

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
  /** Currency of its amounts, if the view has several: each has a panel of its own. */
  readonly currency: string | null
  /** Currency of its amounts, whether the view has others or not; null without amounts. */
  readonly amountsIn: string | null
  /** Whose view of billing documents it shows; null for a panel of something else. */
  readonly perspective: Perspective | null
  /** Filters that are set but have no column in the mart. */
  readonly ignored: readonly string[]
  /** Whether its rows have the figures of the period before. */
  readonly isCompared: boolean
  readonly rows: readonly PanelRow[]
  /** Why there are no rows, as a sentence for the user; null when the statement ran. */
  readonly failure: string | null
}

export interface PageAnswer {
  readonly id: string
  readonly title: string
  readonly question: string
  /** Time of the last read of the service; null before the first sync. */
  readonly asOf: string | null
  /** What the comparison that was asked for is between; null if none was. */
  readonly compared: ComparisonResult | null
  readonly panels: readonly PanelAnswer[]
}

export interface FilterChoice {
  readonly id: string
  readonly name: string
}

export type FilterChoices = Readonly<Record<FilteredBy, readonly FilterChoice[]>>

export interface RowsAnswer {
  readonly mart: string
  readonly columns: readonly string[]
  readonly rows: readonly PanelRow[]
  readonly sql: string
  readonly ignored: readonly string[]
  /** Whether there are more rows than these. */
  readonly isCut: boolean
}

/** First line of an engine's message, without the position in the statement. */
const inShort = (error: Error): string => (error.message.split('\n')[0] ?? '').slice(0, 300)

/** A mart that is not built, or comes from an older release, breaks only its own panel. */
function failureOf(panel: Panel, marts: Marts, error: unknown): string {
  if (!(error instanceof Error) || error.name === 'AbortError') throw error
  if (!marts.columns.has(panel.mart))
    return `mart.${panel.mart} does not exist, or this user may not read it: run muster build, or ask for rights to schema mart.`
  if (/column/i.test(error.message) && /not found|does not (exist|have)/i.test(error.message))
    return `mart.${panel.mart} has other columns than this release reads: run muster build.`
  return `${inShort(error)}. Run muster build: the marts may come from an older release.`
}

const figuresOf = ({ show }: Panel): readonly PanelFigure[] => {
  if ('figures' in show) return show.figures
  return 'figure' in show ? [show.figure] : []
}

/** Currencies of the rows behind its amounts, which must not add up; empty without amounts or without currencies. */
async function currenciesOf(marts: Marts, panel: Panel, filters: Filters): Promise<readonly string[]> {
  const hasMoney = figuresOf(panel).some(({ unit }) => unit === 'money' || unit === 'price')
  if (!hasMoney || !marts.columns.get(panel.mart)?.has('currency')) return []
  const sql = `select distinct currency from mart.${panel.mart} where {where} order by currency`
  const { sql: text, values } = panelStatement({ ...panel, sql }, filters, marts.columns)
  return (await marts.rows(text, values)).map(({ currency }) => String(currency))
}

/** Filters, and the periods that they ask to compare. */
export interface AskedFilters {
  readonly filters: Filters
  readonly comparison?: Comparison | undefined
}

interface PanelRequest extends AskedFilters {
  readonly panel: Panel
  readonly currency: string | null
  readonly amountsIn: string | null
}

/** Appended to what a panel says about itself. */
const views: Readonly<Record<Perspective, string>> = {
  client: "The client's view: what hiring companies owe.",
  provider: "The provider's view: what managed service providers owe to agencies.",
  supplier: "The supplier's view: what agencies are owed.",
}

function perspectiveOf({ mart }: Panel, filters: Filters, columns: MartColumns): Perspective | null {
  const shown = shownValues(mart, filters, columns.get(mart) ?? new Set())
  return (shown.find(({ column }) => column === 'perspective')?.shown ?? null) as Perspective | null
}

type PanelFacts = Omit<PanelAnswer, 'rows' | 'failure' | 'isCompared'>

function panelFactsOf(
  { columns }: Marts,
  { panel, filters, currency, amountsIn }: PanelRequest,
  { shown, ignored }: Statement,
): PanelFacts {
  const { id, title, mart, show, empty, isWide = false, drill } = panel
  const perspective = perspectiveOf(panel, filters, columns)
  const about = perspective === null ? panel.about : `${panel.about} ${views[perspective]}`
  return {
    ...{ id, title, about, mart, show, empty, isWide, currency, amountsIn, perspective },
    drillBy: drill?.by ?? null,
    sql: shown,
    ignored: panel.sql.includes('{where}') ? ignored : [],
  }
}

async function rowsUnder(marts: Marts, panel: Panel, filters: Filters): Promise<PanelRow[]> {
  const { sql, values } = panelStatement(panel, filters, marts.columns)
  return marts.rows(sql, values)
}

async function answerOne(marts: Marts, asked: PanelRequest): Promise<PanelAnswer> {
  const { panel, filters, currency, comparison } = asked
  const isCompared =
    comparison !== undefined && isComparable(panel, marts.columns.get(panel.mart) ?? new Set())
  const dates = isCompared && !isByWeek(panel) ? { from: comparison.from, to: comparison.to } : {}
  const only = { ...filters, ...dates, ...(currency !== null && { currency }) }
  const now = await rowsUnder(marts, panel, only)
  return {
    ...panelFactsOf(marts, asked, panelStatement(panel, only, marts.columns)),
    isCompared,
    rows: isCompared
      ? withBefore(panel, {
          now,
          before: await rowsUnder(marts, panel, { ...only, ...comparison.before }),
          shift: comparison.shift,
        })
      : now,
    failure: null,
  }
}

/** One answer, or one for each currency of its amounts. */
export async function answerPanel(marts: Marts, panel: Panel, asked: AskedFilters): Promise<PanelAnswer[]> {
  const { filters } = asked
  const statement = panelStatement(panel, filters, marts.columns)
  try {
    const currencies = await currenciesOf(marts, panel, filters)
    const [only = null] = currencies
    if (currencies.length < 2)
      return [await answerOne(marts, { ...asked, panel, currency: null, amountsIn: only })]
    const answers: PanelAnswer[] = []
    for (const currency of currencies)
      answers.push(await answerOne(marts, { ...asked, panel, currency, amountsIn: currency }))
    return answers
  } catch (error) {
    const panelFacts = panelFactsOf(marts, { panel, filters, currency: null, amountsIn: null }, statement)
    return [{ ...panelFacts, isCompared: false, rows: [], failure: failureOf(panel, marts, error) }]
  }
}

async function asOf(marts: Marts): Promise<string | null> {
  if (!marts.columns.get('data_health')?.has('as_of')) return null
  const [row] = await marts.rows('select max(as_of) as as_of from mart.data_health')
  return typeof row?.as_of === 'string' ? row.as_of : null
}

/** Null unless the filters ask for a comparison. One mart has the same weeks for all companies. */
export async function comparedIn(marts: Marts, filters: Filters): Promise<ComparisonResult | null> {
  if (!filters.isCompared) return null
  if (!marts.columns.get('working_time_weekly')?.has('is_settled_week'))
    return { why: 'Nothing is compared: no marts are built. Run muster build.' }
  const [weeks] = await marts.rows(
    `select cast(min(week_ending_date) as text) as first,
       cast(max(case when is_settled_week and week_ending_date <= cast($1 as date) then week_ending_date end) as text) as settled
     from mart.working_time_weekly`,
    [filters.to ?? '9999-12-31'],
  )
  return comparedPeriod(filters, { first: textOrNull(weeks?.first), settled: textOrNull(weeks?.settled) })
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const answerPage = (reader: MartReader, page: DashboardPage, filters: Filters): Promise<PageAnswer> =>
  reader.read(async marts => {
    const compared = await comparedIn(marts, filters)
    const comparison = compared && 'shift' in compared ? compared : undefined
    const panels: PanelAnswer[] = []
    for (const panel of page.panels)
      panels.push(...(await answerPanel(marts, panel, { filters, comparison })))
    const { id, title, question } = page
    return { id, title, question, asOf: await asOf(marts), compared, panels }
  })

/** Max choices in a list. */
const maxChoices = 2000

async function choicesOf(marts: Marts, name: FilteredBy): Promise<FilterChoice[]> {
  const columns = marts.columns.get(`dim_${name}`)
  if (!columns?.has(`${name}_name`)) return []
  const rows = await marts.rows(
    `select ${name}_id as id, coalesce(${name}_name, ${name}_id) as name from mart.dim_${name}
     where not is_deleted order by name, id limit ${maxChoices}`,
  )
  return rows.map(({ id, name }) => ({ id: String(id), name: id === '-1' ? 'Unknown' : String(name) }))
}

export async function choicesIn(marts: Marts): Promise<Record<FilteredBy, readonly FilterChoice[]>> {
  const found: (readonly [FilteredBy, FilterChoice[]])[] = []
  for (const name of filteredBy) found.push([name, await choicesOf(marts, name)])
  return Object.fromEntries(found) as unknown as Record<FilteredBy, readonly FilterChoice[]>
}

/** From the mart that knows one week for all companies. */
export const answerPeriods = (reader: MartReader): Promise<Period[]> =>
  reader.read(async marts => {
    const day = await asOf(marts)
    if (day === null || !marts.columns.get('working_time_weekly')?.has('is_settled_week')) return []
    const rows = await marts.rows(
      `select week_ending_date as week from mart.working_time_weekly
       where is_settled_week order by week_ending_date desc limit ${maxWeeksBack}`,
    )
    return periodsOf(
      rows.map(({ week }) => String(week).slice(0, 10)),
      day,
    )
  })

export const answerChoices = (reader: MartReader): Promise<FilterChoices> => reader.read(choicesIn)

export interface PanelRowsRequest {
  readonly panel: Panel
  readonly filters?: Filters
  readonly chosen: ChosenRow
  readonly limit: number
}

export const answerRows = (
  reader: MartReader,
  { panel, filters = noFilters, chosen, limit }: PanelRowsRequest,
): Promise<RowsAnswer> =>
  reader.read(async marts => {
    const mart = panel.drill?.mart ?? panel.mart
    const columns = marts.columns.get(mart)
    if (!columns) throw new MusterError({ what: `mart.${mart} is not built`, next: 'run muster build' })
    // One extra row shows whether there are more.
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
