/** Decides which values a measure never mixes; where a plain sum is wrong, the comment of the column says so. */
import { hasCurrency, isAmount } from './columns.ts'
import type { Mart } from './mart.ts'
import { isNumber, type MartMeasure, measuresOf, partsOf, separationsOf } from './measures.ts'

/** Whether its rows mix several groupings, so that nothing adds up over all of them. */
export const isMixed = ({ fields }: Mart): boolean => fields.has('Groups')

const isMoney = (mart: Mart, name: string): boolean =>
  mart.columns.some(
    column => column.name === name && !/^(integer|bigint)/.test(column.type) && isAmount(column.name),
  )

/** Columns that no figure mixes values of, not even a count of rows. */
export const withinAlways = (mart: Mart): string[] => separationsOf(mart).map(({ column }) => column)

/** The date of the key, by which a stock has a first and a last value. */
const dayOf = (mart: Mart): string | undefined =>
  mart.columns.find(({ isKey, type }) => isKey && type === 'date')?.name

const isStock = ({ aggregation }: MartMeasure): boolean => aggregation === 'first' || aggregation === 'last'

/**
 * Columns that a measure must not mix values of: those that its header names, the currency of an amount, the day of a
 * stock, and a number in the key, such as a threshold of hours, as each level counts the same workers again. A ratio has
 * those of its parts.
 */
export function withinOf(mart: Mart, measure: MartMeasure): string[] {
  const { column, aggregation, counted } = measure
  if (aggregation === 'ratio') {
    const parts = new Set(partsOf(measure))
    const within = measuresOf(mart).flatMap(one => (parts.has(one.column) ? withinOf(mart, one) : []))
    return [...new Set([...within, ...ownWithin(mart, measure)])]
  }
  return ownWithin(mart, { ...measure, column: counted ?? column })
}

function ownWithin(mart: Mart, measure: MartMeasure): string[] {
  const levels = mart.columns.filter(one => one.isKey && isNumber(one)).map(({ name }) => name)
  const day = dayOf(mart)
  return [
    ...(hasCurrency(mart) && isMoney(mart, measure.column) ? ['currency'] : []),
    ...withinAlways(mart),
    ...measure.within,
    ...levels,
    ...(isStock(measure) && day !== undefined ? [day] : []),
  ]
}

/** Names the total of a part of a ratio. */
function totalOf(mart: Mart, part: string): string {
  if (Number(part) > 0) return part
  const measure = measuresOf(mart).find(({ column }) => column === part)
  if (measure?.aggregation === 'max') return `the maximum of ${part}`
  if (measure?.period !== undefined) return `the average of ${part} over ${measure.period}`
  return measure === undefined ? `${part}, of sums,` : `the sum of ${part}`
}

const ratioNote = (mart: Mart, { numerator = '', denominator = '' }: MartMeasure): string =>
  ` Does not add up: divide ${totalOf(mart, numerator)} by ${totalOf(mart, denominator)}`.replace(/,?$/, '.')

function noteOn(mart: Mart, measure: MartMeasure): string {
  const { aggregation, weight, period } = measure
  switch (aggregation) {
    case 'sum':
    case 'distinct':
      return ''
    case 'first':
    case 'last':
      return ` Adds up over groups, not over time: take the ${aggregation} value.`
    case 'average':
      if (period !== undefined)
        return ` Adds up over groups, not over time: divide the sum by the number of ${period}s.`
      return weight === undefined
        ? ' Does not add up: take an average.'
        : ` Does not add up: take an average weighted by ${weight}.`
    case 'max':
    case 'min':
      return ` Does not add up: take the ${aggregation === 'max' ? 'maximum' : 'minimum'}.`
    case 'ratio':
      return ratioNote(mart, measure)
    case 'none':
      return ' Does not add up.'
  }
}

function withinNote(mart: Mart, measure: MartMeasure, inView: boolean): string {
  if (measure.aggregation === 'none') return ''
  const time = isStock(measure) ? dayOf(mart) : undefined
  return [...new Set(withinOf(mart, measure))]
    .filter(name => name !== time)
    .map(name => {
      if (name === 'group_key') return inView ? ' Within one group.' : ' Within one group of one grouping.'
      const isLevel = mart.columns.some(one => one.name === name && one.isKey && isNumber(one))
      return isLevel ? ` For one value of ${name} at a time.` : ` Within one ${name}.`
    })
    .join('')
}

const withinOne = ' Adds up within one grouping only: there is a view of each.'

/** Notes for the comments of columns that a plain sum would get wrong; a view has one grouping. */
export function additivityNotes(mart: Mart, inView = false): ReadonlyMap<string, string> {
  if (mart.name.startsWith('dim_')) return new Map()
  return new Map(
    measuresOf(mart)
      .filter(({ aggregation }) => aggregation !== 'distinct')
      .map(measure => {
        const isApart =
          isMixed(mart) && !inView && measure.aggregation === 'sum' && measure.within.length === 0
        return [
          measure.column,
          isApart ? withinOne : `${noteOn(mart, measure)}${withinNote(mart, measure, inView)}`,
        ]
      }),
  )
}
