/** Turns an alert of the settings into statements: its measure by settled period and group, and the rows behind a value. */
import type { AlertSettings, FilterTerm } from '../../config/alerts.ts'
import { isDay } from '../../lib/dates.ts'
import { ConfigError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import type { Dimension, Entity, EntityMetric } from '../../semantic/entity.ts'
import type { SqlValue } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

/** The column that says whether the period of a row is settled: no later sync changes it. Undefined for a mart without one. */
function settledColumn({ dimensions, time }: Pick<Entity, 'dimensions' | 'time'>): string | undefined {
  const flags = [`is_settled_${time?.grain}`, `is_complete_${time?.grain}`]
  return flags.find(flag => dimensions.some(({ name }) => name === flag))
}

export interface AlertQuery {
  readonly alert: AlertSettings
  /** Columns that it reads. */
  readonly columns: readonly string[]
  /** Selects the settled periods, the latest first; undefined for a measure that is not counted by period. */
  readonly periods: string | undefined
  /** Selects period, group_key and value; `from` is the first period. */
  values(from: string | undefined): { readonly sql: string; readonly values: readonly SqlValue[] }
  /** Selects the rows behind the value of a group. */
  rows(period: string | null, group: string): string
  /** Whether a group without rows has the value 0. */
  readonly isCount: boolean
}

type Place = (value: SqlValue, type: string) => string

const inText: Place = (value, type) =>
  typeof value === 'string' && type !== 'text'
    ? `${type} ${quoteText(value)}`
    : typeof value === 'string'
      ? quoteText(value)
      : String(value)

/** The type that a value is compared as; throws ConfigError if the column has no such values. */
function typeFor({ type, name }: Dimension, value: FilterTerm['value'], where: string): string {
  const isNumber = /^(integer|bigint|numeric|double)/.test(type)
  const fits =
    typeof value === 'boolean'
      ? type === 'boolean'
      : typeof value === 'number'
        ? isNumber
        : type === 'text' || (/^(date|timestamptz)$/.test(type) && isDay(value))
  if (fits) return isNumber ? 'double precision' : type
  throw new ConfigError({ what: `${where}: ${name} is ${type}, which is never ${String(value)}` })
}

function filterSql({ name, filter }: AlertSettings, entity: Entity, place: Place): string[] {
  const where = `alerts.${name}.filter`
  return filter.map(({ column, operator, value }) => {
    const found = entity.dimensions.find(one => one.name === column)
    if (!found) {
      const names = entity.dimensions.map(one => one.name)
      throw new ConfigError({
        what: `${where}: ${entity.name} has no column ${column}`,
        next: choiceOf(column, names),
      })
    }
    const type = typeFor(found, value, where)
    if (typeof value === 'boolean') return value ? column : `not ${column}`
    return `${column} ${operator} ${place(value, type)}`
  })
}

interface MeasuredBy {
  readonly entity: Entity
  readonly metric: EntityMetric
}

function measureOf({ name, mart, measure }: AlertSettings, entities: readonly Entity[]): MeasuredBy {
  const where = `alerts.${name}.measure`
  const entity = entities.find(one => one.name === mart)
  if (!entity) {
    const names = entities.map(one => one.name)
    throw new ConfigError({ what: `${where}: there is no mart ${mart}`, next: choiceOf(mart, names) })
  }
  const metric = entity.metrics.find(one => one.name === measure)
  if (metric) return { entity, metric }
  const names = entity.metrics.map(one => one.name)
  throw new ConfigError({
    what: `${where}: ${mart} has no measure ${measure}`,
    next: choiceOf(measure, names),
  })
}

interface AlertSource {
  readonly table: string
  /** Column of the period; undefined for a measure that is not counted by period. */
  readonly period: string | undefined
  /** Columns of one value a group. */
  readonly groups: readonly string[]
  readonly groupKey: string
  /** Conditions on all its rows. */
  conditions(place: Place): string[]
}

const whereOf = (all: readonly string[]): string => (all.length === 0 ? '' : ` where ${all.join(' and ')}`)

function sourceOf(alert: AlertSettings, { entity, metric }: MeasuredBy): AlertSource {
  const settled = settledColumn(entity)
  const { time } = entity
  const period = time && settled !== undefined && entity.keys.includes(time.column) ? time.column : undefined
  if (alert.condition.kind === 'range' && period === undefined)
    throw new ConfigError({
      what: `alerts.${alert.name}.condition: ${entity.name} is not counted by week or month`,
      next: 'give a number, as in > 50000',
    })
  const groups = metric.within.filter(name => name !== period)
  return {
    ...{ period, groups, table: `mart.${entity.name}` },
    groupKey: groups.map(name => `cast(${name} as text)`).join(` || ', ' || `) || `''`,
    conditions: place => [...(settled === undefined ? [] : [settled]), ...filterSql(alert, entity, place)],
  }
}

function valuesOf({ sql }: EntityMetric, source: AlertSource, from: string | undefined) {
  const { table, period, groupKey, conditions } = source
  const values: SqlValue[] = []
  const bound: Place = (value, type) => {
    values.push(value)
    return `cast($${values.length} as ${type})`
  }
  const all = conditions(bound)
  if (period && from) all.push(`${period} >= ${bound(from, 'date')}`)
  const shown = period ? `cast(${period} as text)` : 'cast(null as text)'
  const select = `${shown} as period, ${groupKey} as group_key, cast(${sql} as double precision) as value`
  return { sql: `select ${select} from ${table}${whereOf(all)} group by 1, 2`, values }
}

/** Throws ConfigError for a mart, measure, column or value that does not exist, with a suggestion. */
export function alertQuery(alert: AlertSettings, entities: readonly Entity[]): AlertQuery {
  const measured = measureOf(alert, entities)
  const { entity, metric } = measured
  const source = sourceOf(alert, measured)
  const { table, period, groups, groupKey, conditions } = source
  // Throws for a wrong filter now.
  const shown = conditions(inText)
  const settled = settledColumn(entity)
  const filtered = alert.filter.map(({ column }) => column)
  return {
    alert,
    columns: [...groups, ...filtered, ...[period, settled, metric.column].filter(name => name !== undefined)],
    periods:
      period &&
      `select distinct cast(${period} as text) as period from ${table} where ${settled} order by 1 desc`,
    isCount: metric.aggregation === 'count' || metric.aggregation === 'sum',
    values: from => valuesOf(metric, source, from),
    rows: (at, group) => {
      const ofPeriod = period && at ? [`${period} = ${inText(at, 'date')}`] : []
      const ofGroup = groups.length === 0 || group === '' ? [] : [`${groupKey} = ${quoteText(group)}`]
      return `select * from ${table}${whereOf([...shown, ...ofPeriod, ...ofGroup])}`
    },
  }
}
