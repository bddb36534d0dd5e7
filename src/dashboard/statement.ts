/** Builds the statement of a panel or of the rows behind it, with bound values, and the same text with values to copy. */
import { UsageError } from '../lib/errors.ts'
import { readMarts } from '../marts/mart.ts'
import { type Separation, separationsOf } from '../marts/measures.ts'
import type { SqlValue } from '../warehouse/engine.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type FilteredBy, type Filters, filteredBy } from './filters.ts'
import type { Panel } from './panel.ts'

export interface Statement {
  /** With $1, $2 for values. */
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** With the values written out, for the user to copy. */
  readonly shown: string
  /** Filters that the mart has no column for. */
  readonly ignored: readonly string[]
}

/** Columns of each mart of the warehouse, by its name. */
export type MartColumns = ReadonlyMap<string, ReadonlySet<string>>

/** One comparison of a column with values; a null needs IS NULL. */
interface FilterCondition {
  readonly column: string
  readonly operator: 'in' | '>=' | '<='
  readonly values: readonly SqlValue[]
}

class FilterConditions {
  readonly values: SqlValue[] = []
  readonly #bound: string[] = []
  readonly #shown: string[] = []

  /** Throws UsageError for a text that no engine stores. */
  add({ column, operator, values }: FilterCondition): void {
    if (values.some(value => typeof value === 'string' && value.includes('\u0000')))
      throw new UsageError({ what: `${column} cannot have such a value`, next: 'choose another' })
    const name = quoteName(column)
    if (values.every(value => value === null)) {
      this.#bound.push(`${name} is null`)
      this.#shown.push(`${name} is null`)
      return
    }
    const places = values.map(value => {
      this.values.push(value)
      return `$${this.values.length}`
    })
    const texts = values.map(value => quoteText(String(value)))
    this.#bound.push(comparison(name, operator, places))
    this.#shown.push(comparison(name, operator, texts))
  }

  get bound(): string {
    return this.#bound.join(' and ') || 'true'
  }

  get shown(): string {
    return this.#shown.join(' and ') || 'true'
  }
}

/** Compares days as days, whatever type the engine gives a bound value. */
function comparison(name: string, operator: FilterCondition['operator'], values: readonly string[]): string {
  if (operator !== 'in') return `${name} ${operator} cast(${values[0]} as date)`
  return values.length === 1 ? `${name} = ${values[0]}` : `${name} in (${values.join(', ')})`
}

const columnOf = (name: FilteredBy): string => `${name}_id`

let separations: ReadonlyMap<string, readonly Separation[]> | undefined

/** Columns of a mart whose values no statement mixes, with the one that it shows. */
export function shownValues(mart: string, filters: Filters, columns: ReadonlySet<string>): Separation[] {
  separations ??= new Map(readMarts().map(one => [one.name, separationsOf(one)]))
  const chosen: Readonly<Record<string, string | undefined>> = { perspective: filters.perspective }
  return (separations.get(mart) ?? [])
    .filter(({ column }) => columns.has(column))
    .map(({ column, shown }) => ({ column, shown: chosen[column] ?? shown }))
}

/** Whether a panel of the page changes with the view of a party. */
export const hasPerspectives = (panels: readonly Pick<Panel, 'mart'>[]): boolean =>
  panels.some(({ mart }) => shownValues(mart, { ids: {} }, new Set(['perspective'])).length > 0)

interface FilterRequest {
  readonly mart: string
  readonly filters: Filters
  readonly columns: ReadonlySet<string>
  readonly date?: string | undefined
}

function addFilters(conditions: FilterConditions, { mart, filters, columns, date }: FilterRequest): string[] {
  const ignored: string[] = []
  for (const name of filteredBy) {
    const values = filters.ids[name]
    if (!values) continue
    if (columns.has(columnOf(name))) conditions.add({ column: columnOf(name), operator: 'in', values })
    else ignored.push(name)
  }
  const { from, to, currency, perspective } = filters
  for (const { column, shown } of shownValues(mart, filters, columns))
    conditions.add({ column, operator: 'in', values: [shown] })
  if (perspective !== undefined && !columns.has('perspective')) ignored.push('perspective')
  if (currency !== undefined && columns.has('currency'))
    conditions.add({ column: 'currency', operator: 'in', values: [currency] })
  else if (currency !== undefined) ignored.push('currency')
  if (date === undefined || !columns.has(date)) {
    if (from !== undefined || to !== undefined) ignored.push('dates')
    return ignored
  }
  if (from !== undefined) conditions.add({ column: date, operator: '>=', values: [from] })
  if (to !== undefined) conditions.add({ column: date, operator: '<=', values: [to] })
  return ignored
}

const columnsOf = (mart: string, columns: MartColumns): ReadonlySet<string> => columns.get(mart) ?? new Set()

const withoutFirstDay = ({ from: _, ...rest }: Filters): Filters => rest

export function panelStatement(panel: Panel, asked: Filters, columns: MartColumns): Statement {
  const filters = panel.isCompared ? withoutFirstDay(asked) : asked
  const conditions = new FilterConditions()
  const martColumns = columnsOf(panel.mart, columns)
  const ignored = addFilters(conditions, {
    ...{ mart: panel.mart, filters, columns: martColumns, date: panel.date },
  })
  return {
    sql: panel.sql.replaceAll('{where}', () => conditions.bound),
    values: conditions.values,
    shown: panel.sql.replaceAll('{where}', () => conditions.shown),
    ignored,
  }
}

/** Values of a panel's row, by column. */
export type ChosenRow = Readonly<Record<string, string | null>>

/** The rows behind one row of a panel. Throws UsageError for a column that the panel does not drill by. */
export function rowsStatement(
  panel: Panel,
  { filters, chosen, limit }: { filters: Filters; chosen: ChosenRow; limit: number },
  columns: MartColumns,
): Statement {
  const { drill } = panel
  if (!drill) throw new UsageError({ what: `${panel.id} has no rows behind it`, next: 'look at another' })
  const mart = drill.mart ?? panel.mart
  const martColumns = columnsOf(mart, columns)
  const conditions = new FilterConditions()
  const ignored = addFilters(conditions, { mart, filters, columns: martColumns, date: panel.date })
  for (const [column, value] of Object.entries(chosen)) {
    if (!drill.by.includes(column) || !martColumns.has(column))
      throw new UsageError({ what: `rows cannot be chosen by ${column}`, next: `use ${drill.by.join(', ')}` })
    conditions.add({ column, operator: 'in', values: [value] })
  }
  const text = (where: string): string =>
    `select *\nfrom mart.${quoteName(mart)}\nwhere ${where}\norder by ${drill.order}\nlimit ${limit}`
  return { sql: text(conditions.bound), values: conditions.values, shown: text(conditions.shown), ignored }
}
