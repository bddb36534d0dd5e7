/** Decides how each number of a mart aggregates; where a plain sum is wrong, the comment of the column says so. */
import { hasCurrency, isAmount } from './columns.ts'
import type { Mart, MartColumn } from './mart.ts'

/**
 * `sum`: adds up over any rows. `last`: adds up over groups, not over time. `average`: a value of one row that can only be
 * averaged. `ratio`: divide the sums of its parts. `none`: distinct counts, medians, repeated totals.
 */
export type Aggregation = 'sum' | 'last' | 'average' | 'ratio' | 'none'

export interface MartMeasure {
  readonly column: string
  readonly aggregation: Aggregation
  /** For a ratio: a column; the denominator may be a number. */
  readonly numerator?: string
  readonly denominator?: string
}

const isNumber = ({ type }: MartColumn): boolean => /^(integer|bigint|numeric|double)/.test(type)

/** `sum a; last b, c; ratio d = e / f`: the header overrides what names and descriptions suggest. */
const clause = /^(sum|last|average|none) (\w+(?:, ?\w+)*)$/
const ratioClause = /^ratio (\w+) = (\w+) \/ ([\w.]+)$/

/** Throws an Error for a clause that cannot be read. */
function declaredMeasures({ name, fields }: Mart): Map<string, MartMeasure> {
  const declared = new Map<string, MartMeasure>()
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
        `sql/mart/${name}.sql: "${part}" is not a measure: write sum, last, average or none and columns, or ratio a = b / c`,
      )
  }
  return declared
}

/** `net_hours / 40`, `within_bounds_days divided by within_bounds_count`, `pay_value by week_pay_value`. */
const formula = /\b([a-z]\w*) (?:\/|divided by|by) ([a-z]\w*|\d+(?:\.\d+)?)\b/g

function ratioIn({ description, name }: MartColumn, numbers: ReadonlySet<string>): MartMeasure | undefined {
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

function suggested(column: MartColumn, numbers: ReadonlySet<string>): MartMeasure {
  const { name, description, type } = column
  const as = (aggregation: Aggregation): MartMeasure => ({ column: name, aggregation })
  const ratio = ratioIn(column, numbers)
  if (ratio) return ratio
  if (/\badded up\b/.test(description)) return as('sum')
  if (ofAll.test(description) || single.test(name)) return as('none')
  return as(ofOneRow.test(name) || type === 'double precision' ? 'average' : 'sum')
}

/** One for each number outside the key, in order; numbers of a dimension describe its members and do not aggregate. */
export function measuresOf(mart: Mart): MartMeasure[] {
  const numbers = mart.columns.filter(column => isNumber(column) && !column.isKey)
  const names = new Set(numbers.map(({ name }) => name))
  const declared = declaredMeasures(mart)
  const isDimension = mart.name.startsWith('dim_')
  return numbers.map(column => {
    if (isDimension) return { column: column.name, aggregation: 'none' }
    return declared.get(column.name) ?? suggested(column, names)
  })
}

function noteOn({ aggregation, numerator, denominator }: MartMeasure): string {
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

/** Columns that no figure mixes values of, not even a count of rows: each party's view has the documents of others again. */
export const withinAlways = (mart: Mart): string[] =>
  mart.columns.some(({ name }) => name === 'perspective') ? ['perspective'] : []

/** Rates by the hour and by the day have no average in common. */
const rateUnitOf = (mart: Mart): string[] =>
  mart.columns.some(({ name }) => name === 'pay_type') ? ['pay_type'] : []

/**
 * Columns that a measure must not mix values of: the currency of an amount, the unit of a rate, the perspective of a
 * document, the day of a stock, and a level in the key, such as a threshold of hours, as each level counts the same
 * workers again.
 */
export function withinOf(mart: Mart, { column, aggregation, numerator, denominator }: MartMeasure): string[] {
  const levels = mart.columns.filter(one => one.isKey && isNumber(one)).map(({ name }) => name)
  const day = mart.columns.find(({ isKey, type }) => isKey && type === 'date')?.name
  const hasAmount = [column, numerator, denominator].some(name => isMoney(mart, name))
  return [
    ...(hasCurrency(mart) && hasAmount ? ['currency'] : []),
    ...withinAlways(mart),
    ...(aggregation === 'average' && hasAmount ? rateUnitOf(mart) : []),
    ...levels,
    ...(aggregation === 'last' && day !== undefined ? [day] : []),
  ]
}

function withinNote(mart: Mart, measure: MartMeasure): string {
  if (measure.aggregation === 'none') return ''
  const within = withinOf(mart, measure)
  const levels = within.filter(name => mart.columns.some(one => one.name === name && isNumber(one)))
  const words = ['currency', 'perspective', 'pay_type'].filter(name => within.includes(name))
  return (
    words.map(name => ` Within one ${name}.`).join('') +
    levels.map(name => ` For one value of ${name} at a time.`).join('')
  )
}

/** Notes for the comments of columns that a plain sum would get wrong; a view has one grouping. */
export function additivityNotes(mart: Mart, inView = false): ReadonlyMap<string, string> {
  if (mart.name.startsWith('dim_')) return new Map()
  return new Map(
    measuresOf(mart).map(measure => {
      const isApart = isMixed(mart) && !inView && measure.aggregation === 'sum'
      return [measure.column, isApart ? withinOne : `${noteOn(measure)}${withinNote(mart, measure)}`]
    }),
  )
}
