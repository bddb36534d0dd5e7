/** Semantic models and metrics of MetricFlow over the sources of the dbt bundle, with the calendar as its time spine. */
import { type BundleFile, type BundleRequest, textFile, yamlFile } from './bundle.ts'
import { dbtBundle } from './dbt.ts'
import type { Entity, Metric } from './entity.ts'

/** A semantic model aggregates by its time, so an entity without one has none. */
const isTimed = (entity: Entity): boolean =>
  entity.kind !== 'dimension' && entity.time !== undefined && measuresOf(entity).length > 0

const measuresOf = ({ metrics }: Entity): Metric[] =>
  metrics.filter(({ aggregation }) => aggregation !== 'ratio')

const modelName = (name: string): string => `muster_${name}`
const measureName = (entity: Entity, metric: string): string => `${entity.name}_${metric}`

function measure(entity: Entity, metric: Metric): object {
  const { name, title, description, aggregation, column } = metric
  const time = entity.time?.column
  return {
    name: measureName(entity, name),
    label: `${title} of ${entity.title}`,
    description,
    agg: aggregation === 'average' ? 'average' : 'sum',
    expr: column ?? '1',
    ...(aggregation === 'last' &&
      time !== undefined && { non_additive_dimension: { name: time, window_choice: 'max' } }),
  }
}

function entityKeys(entity: Entity): object[] {
  const foreign = entity.joins
    .filter(({ column }) => column !== entity.time?.column)
    .map(({ column }) => ({ name: column, type: 'foreign', expr: column }))
  const [key] = entity.keys
  const isWhole = entity.keys.length === 1 && foreign.every(({ name }) => name !== key)
  return isWhole ? [{ name: `${entity.name}_row`, type: 'primary', expr: key }, ...foreign] : foreign
}

function semanticModel(entity: Entity): object {
  const keyed = entityKeys(entity)
  const used = new Set(entity.joins.map(({ column }) => column))
  const needsEntity = keyed.every(one => (one as { type: string }).type !== 'primary')
  return {
    name: modelName(entity.name),
    description: `${entity.description} ${entity.question}`,
    model: `ref('${modelName(entity.name)}')`,
    defaults: { agg_time_dimension: entity.time?.column },
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
    measures: measuresOf(entity).map(metric => measure(entity, metric)),
  }
}

function metric(entity: Entity, one: Metric): object {
  const { name, title, description, aggregation, numerator, denominator } = one
  const words = { name: measureName(entity, name), label: `${title} of ${entity.title}`, description }
  const by = measureName(entity, denominator ?? '')
  if (aggregation !== 'ratio') return { ...words, type: 'simple', type_params: { measure: words.name } }
  if (Number(denominator) > 0)
    return {
      ...words,
      type: 'derived',
      type_params: {
        expr: `numerator / ${Number(denominator)}.0`,
        metrics: [{ name: measureName(entity, numerator ?? ''), alias: 'numerator' }],
      },
    }
  return {
    ...words,
    type: 'ratio',
    type_params: { numerator: measureName(entity, numerator ?? ''), denominator: by },
  }
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
      metrics: entities.flatMap(entity => entity.metrics.map(one => metric(entity, one))),
    }),
  ]
}
