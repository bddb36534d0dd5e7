/** What the numbers of a mart add up to: a plain sum of a column must be right, or its comment says that it is not. */
import { hasCurrency, isAmount } from './columns.ts'
import type { Mart, MartColumn } from './mart.ts'

/**
 * `sum`: adds up over any rows. `last`: over groups, not over time. `average`: a figure of one row, of which averages make
 * sense. `ratio`: divide the sums of its parts. `none`: distinct counts, medians, repeated totals.
 */
export type Aggregation = 'sum' | 'last' | 'average' | 'ratio' | 'none'

export interface Measure {
  readonly column: string
  readonly aggregation: Aggregation
  /** Of a ratio: a column; the denominator may be a number. */
  readonly numerator?: string
  readonly denominator?: string
}

const isNumber = ({ type }: MartColumn): boolean => /^(integer|bigint|numeric|double)/.test(type)

/** `sum a; last b, c; ratio d = e / f`: what the header says overrules what names and words suggest. */
const clause = /^(sum|last|average|none) (\w+(?:, ?\w+)*)$/
const ratioClause = /^ratio (\w+) = (\w+) \/ ([\w.]+)$/

/** Throws an Error for a clause that cannot be read. */
function declaredMeasures({ name, fields }: Mart): Map<string, Measure> {
  const declared = new Map<string, Measure>()
  for (const part of (fields.get('Measures') ?? '').split(';').map(text => text.trim())) {
    if (part === '') continue
    const [, column, numerator, denominator] = ratioClause.exec(part) ?? []
    const [, aggregation, columns] = clause.exec(part) ?? []
    if (column && numerator && denominator)
      declared.set(column, { column, aggregation: 'ratio', numerator, denominator })
    else if (aggregation && columns)
      for (const one of columns.split(/, ?/))
        declared.set(one, { column: one, aggregation: aggregation as Aggregation })
    else
      throw new Error(
        `sql/mart/${name}.sql: "${part}" is no measure: write sum, last, average or none and columns, or ratio a = b / c`,
      )
  }
  return declared
}

/** `net_hours / 40`, `kept_days divided by kept_count`, `pay_value by week_pay_value`. */
const formula = /\b([a-z]\w*) (?:\/|divided by|by) ([a-z]\w*|\d+(?:\.\d+)?)\b/g

function ratioIn({ description, name }: MartColumn, numbers: ReadonlySet<string>): Measure | undefined {
  for (const [, numerator = '', denominator = ''] of description.matchAll(formula)) {
    const isDivisor = numbers.has(denominator) || Number(denominator) > 0
    if (numbers.has(numerator) && isDivisor && numerator !== name)
      return { column: name, aggregation: 'ratio', numerator, denominator }
  }
  return undefined
}

const ofAll = /^Different |\bnot additive\b|\bof all\b.*\bdenominator\b/
const single =
  /(^|_)(average|avg|median|p\d+|min|max|lower|upper|highest|lowest|share|ratio|score|distinct|stage|threshold|version|year|quarter|month|bound|number|radius|latitude|longitude)(_|$)/
const ofOneRow = /(^|_)(age|gap|rate|percent|months|since|overdue|freshness)(_|$)|_days$|^days_/

function suggested(column: MartColumn, numbers: ReadonlySet<string>): Measure {
  const { name, description, type } = column
  const as = (aggregation: Aggregation): Measure => ({ column: name, aggregation })
  const ratio = ratioIn(column, numbers)
  if (ratio) return ratio
  if (/\badded up\b/.test(description)) return as('sum')
  if (ofAll.test(description) || single.test(name)) return as('none')
  return as(ofOneRow.test(name) || type === 'double precision' ? 'average' : 'sum')
}

/** One for each number that is no part of the key, in their order; the numbers of a dimension describe its members. */
export function measuresOf(mart: Mart): Measure[] {
  const numbers = mart.columns.filter(column => isNumber(column) && !column.isKey)
  const names = new Set(numbers.map(({ name }) => name))
  const declared = declaredMeasures(mart)
  const isDimension = mart.name.startsWith('dim_')
  return numbers.map(column => {
    if (isDimension) return { column: column.name, aggregation: 'none' }
    return declared.get(column.name) ?? suggested(column, names)
  })
}

function noteOn({ aggregation, numerator, denominator }: Measure): string {
  switch (aggregation) {
    case 'sum':
      return ''
    case 'last':
      return ' Adds up over groups, not over time.'
    case 'average':
      return ' Does not add up: take an average.'
    case 'ratio':
      return ` Does not add up: divide the sum of ${numerator} by ${Number(denominator) > 0 ? denominator : `the sum of ${denominator}`}.`
    case 'none':
      return ' Does not add up.'
  }
}

/** Whether its rows mix several groupings, so that nothing adds up over all of them. */
export const isMixed = ({ fields }: Mart): boolean => fields.has('Groups')

const withinOne = ' Adds up within one grouping only: there is a view of each.'

const isMoney = (mart: Mart, name: string | undefined): boolean =>
  mart.columns.some(
    column => column.name === name && !/^(integer|bigint)/.test(column.type) && isAmount(column.name),
  )

/**
 * Columns of which a figure covers one value, or is wrong: amounts have a currency, a stock has its day, and a level in the
 * key, such as a threshold of hours, counts the same workers again.
 */
export function withinOf(mart: Mart, { column, aggregation, numerator, denominator }: Measure): string[] {
  const levels = mart.columns.filter(one => one.isKey && isNumber(one)).map(({ name }) => name)
  const day = mart.columns.find(({ isKey, type }) => isKey && type === 'date')?.name
  const hasAmount = [column, numerator, denominator].some(name => isMoney(mart, name))
  return [
    ...(hasCurrency(mart) && hasAmount ? ['currency'] : []),
    ...levels,
    ...(aggregation === 'last' && day !== undefined ? [day] : []),
  ]
}

function withinNote(mart: Mart, measure: Measure): string {
  if (measure.aggregation === 'none') return ''
  const levels = withinOf(mart, measure).filter(name =>
    mart.columns.some(one => one.name === name && isNumber(one)),
  )
  const currency = withinOf(mart, measure).includes('currency') ? ' Within one currency.' : ''
  return currency + levels.map(name => ` For one value of ${name} at a time.`).join('')
}

/** Sentences for the comments of columns that a plain sum would get wrong; in a view there is one grouping. */
export function additivityNotes(mart: Mart, inView = false): ReadonlyMap<string, string> {
  if (mart.name.startsWith('dim_')) return new Map()
  return new Map(
    measuresOf(mart).map(measure => {
      const isApart = isMixed(mart) && !inView && measure.aggregation === 'sum'
      return [measure.column, isApart ? withinOne : `${noteOn(measure)}${withinNote(mart, measure)}`]
    }),
  )
}
