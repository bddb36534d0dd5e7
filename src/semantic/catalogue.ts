/** Builds one catalogue of marts for every BI tool: entities with dimensions, measures, joins, time and question. */

import {
  additivityNotes,
  isMixed,
  type MartMeasure,
  measuresOf,
  withinAlways,
  withinOf,
} from '../marts/additivity.ts'
import { tableColumns } from '../marts/columns.ts'
import type { Mart, MartColumn } from '../marts/mart.ts'
import { martReferences } from '../marts/references.ts'
import { type MartView, viewsOf } from '../marts/views.ts'
import {
  type Dimension,
  type Entity,
  type EntityMetric,
  type Join,
  splitOf,
  type TimeColumn,
} from './entity.ts'
import { formatOf, titleOf, unitOf } from './wording.ts'

/** Parts of an entity that the SQL of a question uses. */
type QuestionEntity = Pick<Entity, 'name' | 'dimensions' | 'metrics' | 'time' | 'keys'>

/** At most this many measures fit a screen. */
const maxMetrics = 5

/** The column that names a group to a reader: a name, else a category. */
const groupOf = ({ dimensions }: QuestionEntity): string | undefined =>
  (
    dimensions.find(({ role, name }) => role === 'name' && !name.startsWith('company')) ??
    dimensions.find(({ role }) => role === 'name') ??
    dimensions.find(({ role }) => role === 'category')
  )?.name

/** Restricts to settled weeks and months that are over, where the mart has that flag. */
function complete({ dimensions, time }: QuestionEntity): string {
  const flag = time?.grain === 'week' ? 'is_settled_week' : `is_complete_${time?.grain}`
  return dimensions.some(({ name }) => name === flag) ? `\nwhere ${flag}` : ''
}

function rows(asked: QuestionEntity): string {
  const columns = asked.dimensions.filter(({ role }) => role !== 'id').map(({ name }) => name)
  const stamps = new Set(['as_of', 'loaded_at', 'definition_id'])
  const shown = columns.filter(name => !stamps.has(name)).slice(0, 8)
  return `select ${shown.join(', ')}\nfrom mart.${asked.name}\norder by ${asked.keys.join(', ') || '1'}\nlimit 20`
}

function questionSql(asked: QuestionEntity): string {
  const metrics = asked.metrics.filter(({ aggregation }) => aggregation !== 'count').slice(0, maxMetrics)
  const group = groupOf(asked)
  // Group by time if it is part of the key: each row then covers a week or a month.
  const time = asked.time && asked.keys.includes(asked.time.column) ? asked.time.column : undefined
  const named = [time, group].filter(name => name !== undefined)
  if (metrics.length === 0 || named.length === 0) return rows(asked)
  const by = [...named, ...splitOf(metrics, named)]
  const figures = metrics.map(({ name, sql }) => `  ${sql} as ${name}`)
  const others = by.map((_, place) => place + 1).filter(place => time === undefined || place > 1)
  const first = time === undefined ? `${by.length + 1} desc nulls last` : '1 desc nulls last'
  const order = [first, ...others].join(', ')
  return `select ${by.join(', ')},\n${figures.join(',\n')}\nfrom mart.${asked.name}${complete(asked)}\ngroup by ${by.join(', ')}\norder by ${order}\nlimit 20`
}

const double = (column: string): string => `cast(sum(${column}) as double precision)`

function sqlOf({ column, aggregation, numerator = '', denominator = '' }: MartMeasure): string {
  if (aggregation === 'average') return `avg(cast(${column} as double precision))`
  if (aggregation !== 'ratio') return `sum(${column})`
  const by = Number(denominator) > 0 ? `${Number(denominator)}.0` : `nullif(${double(denominator)}, 0)`
  return `${double(numerator)} / ${by}`
}

const records: EntityMetric = {
  name: 'records',
  title: 'Rows',
  description: 'Rows of the table.',
  aggregation: 'count',
  unit: 'count',
  format: formatOf('count'),
  sql: 'count(*)',
  within: [],
}

interface CatalogueTable {
  readonly mart: Mart
  readonly columns: readonly MartColumn[]
}

const additive: ReadonlySet<string | undefined> = new Set(['sum', 'last'])

/** A ratio of parts that do not add up cannot be computed from sums; a ratio of stocks holds within one day only. */
function metricsOf({ mart, columns }: CatalogueTable): EntityMetric[] {
  const shown = new Map(columns.map(column => [column.name, column]))
  const measures = new Map(measuresOf(mart).map(measure => [measure.column, measure]))
  const isSum = (name: string): boolean => Number(name) > 0 || additive.has(measures.get(name)?.aggregation)
  const made = [...measures.values()].flatMap((measure): EntityMetric[] => {
    const { column, aggregation, numerator, denominator } = measure
    const shownColumn = shown.get(column)
    if (!shownColumn || aggregation === 'none') return []
    const isRatio = aggregation === 'ratio'
    if (isRatio && !(isSum(numerator ?? '') && isSum(denominator ?? ''))) return []
    const unit = unitOf(column, shownColumn.type)
    const parts = [column, numerator, denominator].flatMap(name => measures.get(name ?? '') ?? [])
    return [
      {
        name: column,
        title: titleOf(column),
        description: shownColumn.description,
        aggregation,
        ...(isRatio ? { numerator, denominator } : { column }),
        unit,
        format: formatOf(unit),
        sql: sqlOf(measure),
        within: [...new Set(parts.flatMap(part => withinOf(mart, part)))],
      } as EntityMetric,
    ]
  })
  return [{ ...records, within: withinAlways(mart) }, ...made.filter(({ name }) => name !== records.name)]
}

function roleOf({ name, type }: MartColumn): Dimension['role'] {
  if (type === 'boolean') return 'flag'
  if (type === 'date' || type === 'timestamptz') return 'time'
  if (type !== 'text') return 'number'
  if (/(^|_)(id|key)$/.test(name)) return 'id'
  return name.endsWith('_name') || name.endsWith('reference') ? 'name' : 'category'
}

const dimensionsOf = (columns: readonly MartColumn[]): Dimension[] =>
  columns.map(column => ({
    name: column.name,
    title: titleOf(column.name),
    description: column.description,
    type: column.type,
    isKey: column.isKey,
    role: roleOf(column),
  }))

/** The date of the key, else the first date, else the first time; never the time of the build. */
function timeOf(columns: readonly MartColumn[]): TimeColumn | undefined {
  const stamps = new Set(['as_of', 'loaded_at', 'oldest_read_at'])
  const days = columns.filter(({ type }) => type === 'date')
  const found =
    days.find(({ isKey }) => isKey) ??
    days[0] ??
    columns.find(({ type, name }) => type === 'timestamptz' && !stamps.has(name))
  if (!found) return undefined
  const grain = /week/.test(found.name) ? 'week' : /month/.test(found.name) ? 'month' : 'day'
  return { column: found.name, grain }
}

interface EntityWords extends Pick<Entity, 'name' | 'kind' | 'description' | 'question'> {
  /** False for a table that mixes groupings, whose measures would be wrong. */
  readonly hasMetrics: boolean
}

function entityOf(
  table: CatalogueTable,
  joins: readonly Join[],
  { hasMetrics, ...words }: EntityWords,
): Entity {
  const { columns } = table
  const time = timeOf(columns)
  const parts = {
    ...words,
    title: titleOf(words.name),
    keys: columns.filter(({ isKey }) => isKey).map(({ name }) => name),
    dimensions: dimensionsOf(columns),
    metrics: hasMetrics ? metricsOf(table) : [records],
    joins: joins.filter(({ column }) => columns.some(({ name }) => name === column)),
    ...(time && { time }),
  }
  return { ...parts, questionSql: table.mart.fields.get('Example') ?? questionSql(parts) }
}

/** Columns with the descriptions that the database has, which say when a plain sum is wrong. */
function describedColumns(mart: Mart): MartColumn[] {
  const notes = additivityNotes(mart)
  return tableColumns(mart).map(column => ({
    ...column,
    description: column.description + (notes.get(column.name) ?? ''),
  }))
}

function entitiesOf(mart: Mart, joins: readonly Join[]): Entity[] {
  const isDimension = mart.name.startsWith('dim_')
  const own = entityOf({ mart, columns: describedColumns(mart) }, joins, {
    name: mart.name,
    kind: isDimension ? 'dimension' : 'fact',
    description: `${mart.grain.charAt(0).toUpperCase()}${mart.grain.slice(1).replace(/\.$/, '')}. ${mart.summary}`,
    question: mart.question,
    hasMetrics: !isDimension && !isMixed(mart),
  })
  const ofView = ({ name, description, question, columns }: MartView): Entity =>
    entityOf({ mart, columns }, joins, { name, kind: 'view', description, question, hasMetrics: true })
  return [own, ...viewsOf(mart).map(ofView)]
}

/** Dimensions first; each view behind its mart. */
export function semanticCatalogue(marts: readonly Mart[]): Entity[] {
  const references = martReferences(marts)
  return marts.flatMap(mart => {
    const joins = references
      .filter(reference => reference.mart === mart.name)
      .map(({ column, target }) => ({ column, entity: target.mart, target: target.column }))
    return entitiesOf(mart, joins)
  })
}
