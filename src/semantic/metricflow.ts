/**
 * Writes semantic models and metrics of MetricFlow over the sources of the dbt bundle, with the calendar as its time
 * spine.
 */
import { type BundleFile, type BundleRequest, textFile, yamlFile } from './bundle.ts'
import { dbtBundle } from './dbt.ts'
import type { Entity, EntityMetric } from './entity.ts'

/** A semantic model needs a time to aggregate by: the last sync if the entity has no other. */
const timeOf = (entity: Entity): string | undefined =>
  entity.time?.column ?? entity.dimensions.find(({ name }) => name === 'as_of')?.name

const isTimed = (entity: Entity): boolean =>
  entity.kind !== 'dimension' && timeOf(entity) !== undefined && measuresOf(entity).length > 0

const measuresOf = ({ metrics }: Entity): EntityMetric[] =>
  metrics.filter(({ aggregation }) => aggregation !== 'ratio')

const modelName = (name: string): string => `muster_${name}`
const measureName = (entity: Entity, metric: string): string => `${entity.name}_${metric}`

function measure(entity: Entity, metric: EntityMetric): object {
  const { name, title, description, aggregation, column, within } = metric
  const time = timeOf(entity) ?? ''
  return {
    name: measureName(entity, name),
    label: `${title} of ${entity.title}`,
    description,
    agg: aggregation === 'average' ? 'average' : 'sum',
    expr: column ?? '1',
    ...(within.includes(time) && { non_additive_dimension: { name: time, window_choice: 'max' } }),
  }
}

/** Columns that a metric must not mix; not the time, of which MetricFlow takes the last value itself. */
const guardsOf = (entity: Entity, { within }: Pick<EntityMetric, 'within'>): string[] =>
  within.filter(name => name !== timeOf(entity))

const ends = ['min', 'max'] as const
const endName = (entity: Entity, end: string, column: string): string => `${entity.name}_${end}_${column}`

interface MeasureEnd {
  readonly name: string
  readonly agg: string
  readonly expr: string
  readonly label: string
  readonly description: string
}

/** Lowest and highest value of each column: equal where it has one value. */
const endsOf = (entity: Entity): MeasureEnd[] =>
  [...new Set(entity.metrics.flatMap(one => guardsOf(entity, one)))].flatMap(column =>
    ends.map(end => ({
      name: endName(entity, end, column),
      agg: end,
      expr: column,
      label: `${end} of ${column} of ${entity.title}`,
      description: `The ${end === 'min' ? 'lowest' : 'highest'} ${column}; both ends are equal when a figure mixes no values.`,
    })),
  )

function entityKeys(entity: Entity): object[] {
  const foreign = entity.joins
    .filter(({ column }) => column !== entity.time?.column)
    .map(({ column }) => ({ name: column, type: 'foreign', expr: column }))
  const [key] = entity.keys
  const isOneRow = entity.keys.length === 1 && foreign.every(({ name }) => name !== key)
  return isOneRow ? [{ name: `${entity.name}_row`, type: 'primary', expr: key }, ...foreign] : foreign
}

function semanticModel(entity: Entity): object {
  const keyed = entityKeys(entity)
  const used = new Set(entity.joins.map(({ column }) => column))
  const needsEntity = keyed.every(one => (one as { type: string }).type !== 'primary')
  return {
    name: modelName(entity.name),
    description: `${entity.description} ${entity.question}`,
    model: `ref('${modelName(entity.name)}')`,
    defaults: { agg_time_dimension: timeOf(entity) },
    ...(needsEntity && { primary_entity: `${entity.name}_row` }),
    entities: keyed,
    dimensions: entity.dimensions
      .filter(({ name, role }) => role !== 'number' && !used.has(name) && name !== entity.keys[0])
      .concat(entity.dimensions.filter(({ name }) => name === entity.time?.column))
      .filter(({ name }, place, all) => all.findIndex(one => one.name === name) === place)
      .map(({ name, title, description, role }) => ({
        name,
        label: title,
        description,
        ...(role === 'time'
          ? { type: 'time', type_params: { time_granularity: 'day' } }
          : { type: 'categorical' }),
      })),
    measures: [...measuresOf(entity).map(metric => measure(entity, metric)), ...endsOf(entity)],
  }
}

/** Name of the unguarded metric, which adds up everything; users use the guarded one. */
function baseName(entity: Entity, name: string): string {
  const metric = entity.metrics.find(one => one.name === name)
  const isGuarded = metric !== undefined && guardsOf(entity, metric).length > 0
  return `${measureName(entity, name)}${isGuarded ? '_unguarded' : ''}`
}

function base(entity: Entity, one: EntityMetric, words: object): object {
  const { name, aggregation, numerator = '', denominator = '' } = one
  if (aggregation !== 'ratio')
    return { ...words, type: 'simple', type_params: { measure: measureName(entity, name) } }
  if (Number(denominator) > 0)
    return {
      ...words,
      type: 'derived',
      type_params: {
        expr: `numerator / ${Number(denominator)}.0`,
        metrics: [{ name: baseName(entity, numerator), alias: 'numerator' }],
      },
    }
  return {
    ...words,
    type: 'ratio',
    type_params: { numerator: baseName(entity, numerator), denominator: baseName(entity, denominator) },
  }
}

/** A metric that is empty where it would mix currencies or levels. */
function guarded(entity: Entity, one: EntityMetric, words: object): object {
  const columns = guardsOf(entity, one)
  const isOne = columns.map(column => `min_${column} = max_${column}`).join(' and ')
  const alias = columns.flatMap(column =>
    ends.map(end => ({ name: endName(entity, end, column), alias: `${end}_${column}` })),
  )
  return {
    ...words,
    type: 'derived',
    type_params: {
      expr: `case when ${isOne} then figure end`,
      metrics: [{ name: baseName(entity, one.name), alias: 'figure' }, ...alias],
    },
  }
}

function metricsOf(entity: Entity): object[] {
  const of = (name: string, label: string, description: string) => ({
    name,
    label: `${label} of ${entity.title}`,
    description,
  })
  const own = entity.metrics.flatMap(one => {
    const words = of(measureName(entity, one.name), one.title, one.description)
    if (guardsOf(entity, one).length === 0) return [base(entity, one, words)]
    const mixed = of(
      baseName(entity, one.name),
      `${one.title}, unguarded,`,
      `A part of ${words.name}: use that one, as this adds up values that must not be mixed.`,
    )
    return [base(entity, one, mixed), guarded(entity, one, words)]
  })
  const limits = endsOf(entity).map(({ name, label, description }) => ({
    name,
    label,
    description,
    type: 'simple',
    type_params: { measure: name },
  }))
  return [...own, ...limits]
}

const model = ({ name }: Entity): BundleFile =>
  textFile(`models/muster/${modelName(name)}.sql`, '--', `select * from {{ source('muster', '${name}') }}`)

const spine = (): BundleFile[] => [
  textFile(
    'models/muster/muster_time_spine.sql',
    '--',
    `{{ config(materialized='table') }}\nselect cast(date_day as date) as date_day from {{ source('muster', 'dim_date') }}`,
  ),
  yamlFile('models/muster/time_spine.yml', {
    version: 2,
    models: [
      {
        name: 'muster_time_spine',
        description: 'One row per calendar day.',
        time_spine: { standard_granularity_column: 'date_day' },
        columns: [{ name: 'date_day', granularity: 'day' }],
      },
    ],
  }),
]

/** The dbt bundle and the semantic layer above it. */
export function metricflowBundle(request: BundleRequest): BundleFile[] {
  const entities = request.entities.filter(isTimed)
  return [
    ...dbtBundle(request),
    ...spine(),
    ...entities.map(model),
    yamlFile('models/muster/semantic_models.yml', {
      version: 2,
      semantic_models: entities.map(semanticModel),
    }),
    yamlFile('models/muster/metrics.yml', {
      version: 2,
      metrics: entities.flatMap(metricsOf),
    }),
  ]
}
