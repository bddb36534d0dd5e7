/** Builds one catalogue of marts for every BI tool: entities with dimensions, measures, joins, time and question. */

import { additivityNotes, isMixed, withinAlways, withinOf } from '../marts/additivity.ts'
import { tableColumns } from '../marts/columns.ts'
import type { Mart, MartColumn } from '../marts/mart.ts'
import { type MartMeasure, measuresOf, partsOf, separationsOf } from '../marts/measures.ts'
import { martReferences } from '../marts/references.ts'
import { type MartView, viewsOf } from '../marts/views.ts'
import {
  countedSql,
  type Dimension,
  type Entity,
  type EntityMetric,
  idBeside,
  type Join,
  splitOf,
  type TimeColumn,
} from './entity.ts'
import { formatOf, titleOf, unitOf } from './wording.ts'

/** Parts of an entity that the SQL of a question uses. */
type QuestionEntity = Pick<Entity, 'name' | 'dimensions' | 'metrics' | 'time' | 'keys'>

/** At most this many measures fit a screen. */
const maxMetrics = 5

/** The column that names a group to a reader, a name or else a category, and the id behind a name. */
function groupOf({ dimensions }: QuestionEntity): { name: string; by: string } | undefined {
  const found =
    dimensions.find(({ role, name }) => role === 'name' && !name.startsWith('company')) ??
    dimensions.find(({ role }) => role === 'name') ??
    dimensions.find(({ role }) => role === 'category')
  return found && { name: found.name, by: idBeside(found.name, dimensions) }
}

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
  const by = [time, group?.by].filter(name => name !== undefined)
  if (metrics.length === 0 || by.length === 0) return rows(asked)
  const split = splitOf(metrics, by)
  const name = group && (group.by === group.name ? group.name : `max(${group.name}) as ${group.name}`)
  const shown = [time, name, ...split].filter(column => column !== undefined)
  const figures = metrics.map(metric => `  ${metric.sql} as ${metric.name}`)
  const others = shown.map((_, place) => place + 1).filter(place => time === undefined || place > 1)
  const first = time === undefined ? `${shown.length + 1} desc nulls last` : '1 desc nulls last'
  const order = [first, ...others].join(', ')
  return `select ${shown.join(', ')},\n${figures.join(',\n')}\nfrom mart.${asked.name}${complete(asked)}\ngroup by ${[...by, ...split].join(', ')}\norder by ${order}\nlimit 20`
}

const double = (sql: string): string => `cast(${sql} as double precision)`
const quotient = (sql: string, by: string): string => `${double(sql)} / nullif(${double(by)}, 0)`

type Measures = ReadonlyMap<string, MartMeasure>

/** A formula over columns, with the total of each in its place. */
const totals = (formula: string, measures: Measures): string =>
  formula.replaceAll(/[a-z]\w*/g, name => {
    const measure = measures.get(name)
    return measure === undefined ? name : sqlOf(measure, measures)
  })

function averageSql({ column, weight, period }: MartMeasure): string {
  if (period !== undefined) return quotient(`sum(${column})`, `count(distinct ${period})`)
  if (weight === undefined) return `avg(${double(column)})`
  return quotient(
    `sum(${double(column)} * ${weight})`,
    `sum(case when ${column} is not null then ${weight} end)`,
  )
}

function sqlOf(measure: MartMeasure, measures: Measures): string {
  const { column, aggregation, counted, numerator = '', denominator = '' } = measure
  if (aggregation === 'average') return averageSql(measure)
  if (aggregation === 'max' || aggregation === 'min') return `${aggregation}(${column})`
  if (aggregation === 'distinct') return `count(distinct ${countedSql(counted ?? '')})`
  if (aggregation !== 'ratio') return `sum(${column})`
  if (Number(denominator) > 0) return `${double(totals(numerator, measures))} / ${Number(denominator)}.0`
  return quotient(totals(numerator, measures), totals(denominator, measures))
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
  /** Columns that name a group, in a view of one grouping. */
  readonly groupKeys?: readonly string[]
}

function descriptionOf({ column, counted }: MartMeasure, shown: MartColumn): string {
  return counted === undefined ? shown.description : `Different ${column}: ${shown.description}`
}

/** The columns to group by in one entity: a view of a mart has groups of its own. */
function withinEntity({ mart, groupKeys = [] }: CatalogueTable, measure: MartMeasure): string[] {
  const within = withinOf(mart, measure).flatMap(name => (name === 'group_key' ? groupKeys : [name]))
  return [...new Set(within)]
}

/** A ratio with a part that has no total has none either. */
function metricsOf(table: CatalogueTable): EntityMetric[] {
  const { mart, columns } = table
  const shown = new Map(columns.map(column => [column.name, column]))
  const measures: Measures = new Map(measuresOf(mart).map(measure => [measure.column, measure]))
  const hasTotal = (name: string): boolean => (measures.get(name)?.aggregation ?? 'none') !== 'none'
  const made = [...measures.values()].flatMap((measure): EntityMetric[] => {
    const { column, aggregation, weight, period, counted, numerator, denominator } = measure
    const source = shown.get(counted ?? column)
    if (!source || aggregation === 'none' || !partsOf(measure).every(hasTotal)) return []
    const unit = counted === undefined ? unitOf(column, source.type) : 'count'
    return [
      {
        name: column,
        title: titleOf(column),
        description: descriptionOf(measure, source),
        aggregation,
        ...(aggregation === 'ratio' ? { numerator, denominator } : { column: counted ?? column }),
        ...(weight !== undefined && { weight }),
        ...(period !== undefined && { period }),
        unit,
        format: formatOf(unit),
        sql: sqlOf(measure, measures),
        within: withinEntity(table, measure),
      } as EntityMetric,
    ]
  })
  // A number of that name is not the count of rows.
  if (shown.has(records.name)) return made
  return [{ ...records, within: withinAlways(mart) }, ...made]
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
    separations: separationsOf(table.mart),
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
  const ofView = ({ name, description, question, columns, groupKeys, declares = mart }: MartView): Entity =>
    entityOf({ mart: declares, columns, groupKeys }, joins, {
      ...{ name, kind: 'view', description, question, hasMetrics: true },
    })
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
