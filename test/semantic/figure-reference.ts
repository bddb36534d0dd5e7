/** Figures computed from the rows of a mart, one value at a time, by what the header declares of a measure. */
import { partsOf } from '../../src/marts/measures.ts'
import type { Entity, EntityMetric } from '../../src/semantic/entity.ts'

export type MartRow = Readonly<Record<string, unknown>>

export interface RowGroup {
  readonly rows: readonly MartRow[]
  /** Of a stock: the rows of the first and of the last time of everything that is shown. */
  readonly first: readonly MartRow[]
  readonly last: readonly MartRow[]
}

const known = (rows: readonly MartRow[], column: string): number[] =>
  rows.flatMap(row => (row[column] === null || row[column] === undefined ? [] : [Number(row[column])]))

/** As SQL adds up: nothing, not 0, over no value. */
const sum = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((total, value) => total + value, 0)

const quotient = (above: number | null, below: number | null): number | null =>
  above === null || below === null || below === 0 ? null : above / below

/** Whether all rows have one value, which is known. */
const isOne = (rows: readonly MartRow[], column: string): boolean =>
  new Set(rows.map(row => String(row[column]))).size === 1 && (rows[0]?.[column] ?? null) !== null

function average(rows: readonly MartRow[], { column = '', weight, period }: EntityMetric): number | null {
  if (period !== undefined)
    return quotient(sum(known(rows, column)), new Set(rows.map(row => row[period])).size)
  const weighed = rows
    .filter(row => row[column] !== null)
    .map(row => [Number(row[column]), weight === undefined ? 1 : Number(row[weight] ?? 0)] as const)
  return quotient(sum(weighed.map(([value, by]) => value * by)), sum(weighed.map(([, by]) => by)))
}

/** Evaluates `90 * a`, `(a - b)` and the like. */
function formula(text: string, partValue: (name: string) => number | null): number | null {
  if (Number(text) > 0) return Number(text)
  const [, factor, inner = ''] = /^(?:(\d+) \* )?\(?([^()]*)\)?$/.exec(text) ?? []
  let total: number | null = 0
  for (const [, sign, name = ''] of inner.matchAll(/([+-]?) ?([a-z]\w*)/g)) {
    const value = partValue(name)
    total = total === null || value === null ? null : total + (sign === '-' ? -value : value)
  }
  return total === null ? null : total * Number(factor ?? 1)
}

function total(entity: Entity, metric: EntityMetric, group: RowGroup): number | null {
  const { aggregation, column = '', numerator = '', denominator = '' } = metric
  const { rows } = group
  switch (aggregation) {
    case 'count':
      return rows.length
    case 'sum':
      return sum(known(rows, column))
    case 'first':
      return sum(known(group.first, column))
    case 'last':
      return sum(known(group.last, column))
    case 'max':
    case 'min': {
      const values = known(rows, column)
      return values.length === 0 ? null : Math[aggregation](...values)
    }
    case 'distinct':
      return new Set(rows.map(row => row[column]).filter(value => value !== null && value !== '-1')).size
    case 'average':
      return average(rows, metric)
    case 'ratio': {
      const partValue = (name: string): number | null => {
        const part = entity.metrics.find(one => one.name === name)
        return part === undefined ? null : total(entity, part, group)
      }
      return quotient(formula(numerator, partValue), formula(denominator, partValue))
    }
  }
}

const isStock = ({ aggregation }: EntityMetric): boolean => aggregation === 'first' || aggregation === 'last'

/** Whether only stocks are in it, of which MetricFlow takes the first or last value by itself. */
function isOfStocks({ metrics }: Entity, metric: EntityMetric): boolean {
  if (metric.aggregation !== 'ratio') return isStock(metric)
  return metrics.filter(({ name }) => partsOf(metric).includes(name)).every(isStock)
}

/** Empty where the rows mix values that do not add up: what Superset, Grafana and Cube must show. */
export const figureOf = (entity: Entity, metric: EntityMetric, { rows }: RowGroup): number | null =>
  metric.within.every(column => isOne(rows, column))
    ? total(entity, metric, { rows, first: rows, last: rows })
    : null

/** The same, except that a stock has its first or last value over time: what MetricFlow must answer. */
export function figureOverTime(entity: Entity, metric: EntityMetric, group: RowGroup): number | null {
  const time = isOfStocks(entity, metric) ? entity.time?.column : undefined
  if (time === undefined) return figureOf(entity, metric, group)
  const guards = metric.within.filter(column => column !== time)
  return guards.every(column => isOne(group.rows, column)) ? total(entity, metric, group) : null
}
