/** Reads the line `Measures:` of a mart's header, which declares how each of its numbers aggregates. */
import type { Mart, MartColumn } from './mart.ts'

/**
 * `sum`: adds up over any rows. `first`, `last`: adds up over groups; over time the first or last value counts.
 * `average`: by row, by the weight of a row, or by period, when it adds up over groups. `max`, `min`: the extreme of the
 * rows. `distinct`: different values of a column. `ratio`: its formula over the totals of its parts. `none`: no total.
 */
export type Aggregation = 'sum' | 'first' | 'last' | 'average' | 'max' | 'min' | 'distinct' | 'ratio' | 'none'

export interface MartMeasure {
  /** Column of the number; for a distinct count, the name of the measure. */
  readonly column: string
  readonly aggregation: Aggregation
  /** Of an average: the column that weighs the row. */
  readonly weight?: string
  /** Of an average by period: the date that names the period. */
  readonly period?: string
  /** Of a distinct count: the column counted. */
  readonly counted?: string
  /** Of a ratio: sums, differences and multiples of columns; the denominator may be a number. */
  readonly numerator?: string
  readonly denominator?: string
  /** Columns whose values it never mixes, as declared. */
  readonly within: readonly string[]
}

/** A column that no figure of the mart mixes values of, and the value that is shown unless the reader chooses another. */
export interface Separation {
  readonly column: string
  readonly shown: string
}

interface Declared {
  readonly separations: readonly Separation[]
  readonly measures: ReadonlyMap<string, MartMeasure>
}

const names = String.raw`\w+(?:, ?\w+)*`
const separated = /^within (\w+) = (\w+)$/
const plain = new RegExp(
  `^(sum|first|last|average|max|min|none) (${names})(?: (by|over) (\\w+))?(?: within (${names}))?$`,
)
const distinct = new RegExp(`^distinct (\\w+) = (\\w+)(?: within (${names}))?$`)
const term = String.raw`(?:\d+ \* )?(?:\w+|\(\w+(?: [+-] \w+)+\))`
const ratio = new RegExp(`^ratio (\\w+) = (${term}) / (${term}|[\\d.]+)$`)

const listed = (text: string | undefined): string[] => text?.split(/, ?/) ?? []

/** Empty for a clause that cannot be read. */
function measuresIn(clause: string): MartMeasure[] {
  const [, column, numerator, denominator] = ratio.exec(clause) ?? []
  if (column && numerator && denominator)
    return [{ column, aggregation: 'ratio', numerator, denominator, within: [] }]
  const [, name, counted, inside] = distinct.exec(clause) ?? []
  if (name && counted) return [{ column: name, aggregation: 'distinct', counted, within: listed(inside) }]
  const [, aggregation, columns, word, other, within] = plain.exec(clause) ?? []
  if (word !== undefined && aggregation !== 'average') return []
  return listed(columns).map(one => ({
    column: one,
    aggregation: aggregation as Aggregation,
    ...(word === 'by' && { weight: other }),
    ...(word === 'over' && { period: other }),
    within: listed(within),
  }))
}

/** Throws an Error for a clause that cannot be read. */
function declaredIn({ name, fields }: Mart): Declared {
  const separations: Separation[] = []
  const measures: MartMeasure[] = []
  for (const clause of (fields.get('Measures') ?? '').split(';').map(text => text.trim())) {
    if (clause === '') continue
    const [, column, shown] = separated.exec(clause) ?? []
    const found = measuresIn(clause)
    if (column && shown) separations.push({ column, shown })
    else if (found.length > 0) measures.push(...found)
    else
      throw new Error(
        `sql/mart/${name}.sql: "${clause}" is not a measure: write sum, first, last, average, max, min or none and columns, distinct a = b, or ratio a = b / c`,
      )
  }
  return { separations, measures: new Map(measures.map(measure => [measure.column, measure])) }
}

export const separationsOf = (mart: Mart): readonly Separation[] => declaredIn(mart).separations

export const isNumber = ({ type }: MartColumn): boolean => /^(integer|bigint|numeric|double)/.test(type)

/** Columns that the formula of a ratio names. */
export const partsOf = ({
  numerator = '',
  denominator = '',
}: Pick<MartMeasure, 'numerator' | 'denominator'>): string[] =>
  [...`${numerator} ${denominator}`.matchAll(/[a-z]\w*/g)].map(([part]) => part)

/**
 * One for each number outside the key, in order, then distinct counts. A number that the header does not declare has no
 * total, as have those of a dimension, which describe its members.
 */
export function measuresOf(mart: Mart): MartMeasure[] {
  const { measures } = declaredIn(mart)
  const numbers = mart.columns
    .filter(column => isNumber(column) && !column.isKey)
    .map(({ name }): MartMeasure => measures.get(name) ?? { column: name, aggregation: 'none', within: [] })
  return [...numbers, ...[...measures.values()].filter(({ aggregation }) => aggregation === 'distinct')]
}

/** What the header names and the mart does not have, and numbers that it does not declare: empty in a complete header. */
export function measureGaps(mart: Mart): string[] {
  if (mart.name.startsWith('dim_')) return []
  const { measures, separations } = declaredIn(mart)
  const columns = new Set([...mart.columns.map(({ name }) => name), 'group_key'])
  const named = [...measures.values()].flatMap(one => [
    ...(one.aggregation === 'distinct' ? [] : [one.column]),
    ...[one.weight, one.period, one.counted].filter(name => name !== undefined),
    ...partsOf(one),
    ...one.within,
  ])
  const missing = [...named, ...separations.map(({ column }) => column)].filter(name => !columns.has(name))
  const undeclared = mart.columns.filter(one => isNumber(one) && !one.isKey && !measures.has(one.name))
  return [
    ...missing.map(name => `${name} is not a column`),
    ...undeclared.map(({ name }) => `${name} is not declared`),
  ]
}
