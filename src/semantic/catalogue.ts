/** One catalogue of marts for every BI tool: entities with their dimensions, measures, joins, time and question. */
import { additivityNotes, isMixed, type Measure, measuresOf, withinOf } from '../marts/additivity.ts'
import { tableColumns } from '../marts/columns.ts'
import type { Mart, MartColumn } from '../marts/mart.ts'
import { martReferences } from '../marts/references.ts'
import { type MartView, viewsOf } from '../marts/views.ts'
import type { Dimension, Entity, Join, Metric, TimeColumn } from './entity.ts'
import { questionSql } from './question.ts'
import { formatOf, titleOf, unitOf } from './wording.ts'

const double = (column: string): string => `cast(sum(${column}) as double precision)`

function sqlOf({ column, aggregation, numerator = '', denominator = '' }: Measure): string {
  if (aggregation === 'average') return `avg(cast(${column} as double precision))`
  if (aggregation !== 'ratio') return `sum(${column})`
  const by = Number(denominator) > 0 ? `${Number(denominator)}.0` : `nullif(${double(denominator)}, 0)`
  return `${double(numerator)} / ${by}`
}

const records: Metric = {
  name: 'records',
  title: 'Rows',
  description: 'Rows of the table.',
  aggregation: 'count',
  unit: 'count',
  format: formatOf('count'),
  sql: 'count(*)',
  within: [],
}

interface Table {
  readonly mart: Mart
  readonly columns: readonly MartColumn[]
}

const additive: ReadonlySet<string | undefined> = new Set(['sum', 'last'])

/** A ratio of what does not add up cannot be made again from sums; one of stocks holds within one day, as they do. */
function metricsOf({ mart, columns }: Table): Metric[] {
  const shown = new Map(columns.map(column => [column.name, column]))
  const measures = new Map(measuresOf(mart).map(measure => [measure.column, measure]))
  const isSum = (name: string): boolean => Number(name) > 0 || additive.has(measures.get(name)?.aggregation)
  const made = [...measures.values()].flatMap((measure): Metric[] => {
    const { column, aggregation, numerator, denominator } = measure
    const held = shown.get(column)
    if (!held || aggregation === 'none') return []
    const isRatio = aggregation === 'ratio'
    if (isRatio && !(isSum(numerator ?? '') && isSum(denominator ?? ''))) return []
    const unit = unitOf(column, held.type)
    const parts = [column, numerator, denominator].flatMap(name => measures.get(name ?? '') ?? [])
    return [
      {
        name: column,
        title: titleOf(column),
        description: held.description,
        aggregation,
        ...(isRatio ? { numerator, denominator } : { column }),
        unit,
        format: formatOf(unit),
        sql: sqlOf(measure),
        within: [...new Set(parts.flatMap(part => withinOf(mart, part)))],
      } as Metric,
    ]
  })
  return [records, ...made.filter(({ name }) => name !== records.name)]
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

/** The date of the key, else the first date, else the first time: of what happened, not of the build. */
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

interface Words extends Pick<Entity, 'name' | 'kind' | 'description' | 'question'> {
  /** Whether measures of it are right: not of a table that mixes groupings. */
  readonly hasMetrics: boolean
}

function entityOf(table: Table, joins: readonly Join[], { hasMetrics, ...words }: Words): Entity {
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

/** As the comments in the database say it: a description tells when a plain sum of the column is wrong. */
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
