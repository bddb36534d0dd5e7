/**
 * Writes semantic models and metrics of MetricFlow over the sources of the dbt bundle, with the calendar as its time
 * spine.
 */
import { partsOf } from '../marts/measures.ts'
import { type BundleFile, type BundleRequest, textFile, yamlFile } from './bundle.ts'
import { dbtBundle } from './dbt.ts'
import { countedSql, type Entity, type EntityMetric } from './entity.ts'

/** A semantic model needs a time to aggregate by: the last sync if the entity has no other. */
const timeOf = (entity: Entity): string | undefined =>
  entity.time?.column ?? entity.dimensions.find(({ name }) => name === 'as_of')?.name

const isTimed = (entity: Entity): boolean =>
  entity.kind !== 'dimension' && timeOf(entity) !== undefined && entity.metrics.length > 0

const modelName = (name: string): string => `muster_${name}`
const measureName = (entity: Entity, metric: string): string => `${entity.name}_${metric}`

interface Measure {
  readonly name: string
  readonly agg: string
  readonly expr: string
  /** Of two totals, which one. */
  readonly part?: string
}

const isStock = ({ aggregation }: EntityMetric): boolean => aggregation === 'first' || aggregation === 'last'

/** Totals of which a metric is made: an average by weight or by period divides two, a ratio has those of its parts. */
function measuresOf(entity: Entity, metric: EntityMetric): Measure[] {
  const { aggregation, column = '', weight, period } = metric
  const name = measureName(entity, metric.name)
  if (aggregation === 'ratio') return []
  if (aggregation === 'count') return [{ name, agg: 'sum', expr: '1' }]
  if (aggregation === 'distinct') return [{ name, agg: 'count_distinct', expr: countedSql(column) }]
  if (weight !== undefined)
    return [
      {
        name: `${name}_total`,
        agg: 'sum',
        expr: `cast(${column} as double precision) * ${weight}`,
        part: 'total',
      },
      {
        name: `${name}_weight`,
        agg: 'sum',
        expr: `case when ${column} is not null then ${weight} end`,
        part: 'weight',
      },
    ]
  if (period !== undefined)
    return [
      { name: `${name}_total`, agg: 'sum', expr: column, part: 'total' },
      { name: `${name}_periods`, agg: 'count_distinct', expr: period, part: 'periods' },
    ]
  return [{ name, agg: isStock(metric) ? 'sum' : aggregation, expr: column }]
}

const declaredMeasures = (entity: Entity, metric: EntityMetric): object[] =>
  measuresOf(entity, metric).map(({ part, ...measure }) => ({
    ...measure,
    label: `${metric.title}${part === undefined ? '' : `, ${part},`} of ${entity.title}`,
    description: metric.description,
    ...(isStock(metric) && {
      non_additive_dimension: {
        name: timeOf(entity),
        window_choice: metric.aggregation === 'first' ? 'min' : 'max',
      },
    }),
  }))

/** Whether MetricFlow takes the first or last value over time by itself: of a stock, and of a ratio of stocks. */
function isWindowed({ metrics }: Entity, metric: EntityMetric): boolean {
  if (metric.aggregation !== 'ratio') return isStock(metric)
  const parts = partsOf(metric)
  return metrics.filter(({ name }) => parts.includes(name)).every(isStock)
}

/** Columns that a metric must not mix. */
const guardsOf = (entity: Entity, metric: EntityMetric): string[] =>
  metric.within.filter(name => name !== timeOf(entity) || !isWindowed(entity, metric))

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

interface ModelEntity {
  readonly name: string
  readonly type: 'primary' | 'foreign'
  readonly expr: string
}

function entityKeys(entity: Entity): ModelEntity[] {
  const foreign = entity.joins
    .filter(({ column }) => column !== entity.time?.column)
    .map(({ column }): ModelEntity => ({ name: column, type: 'foreign', expr: column }))
  const [key = ''] = entity.keys
  const isOneRow = entity.keys.length === 1 && foreign.every(({ name }) => name !== key)
  return isOneRow ? [{ name: `${entity.name}_row`, type: 'primary', expr: key }, ...foreign] : foreign
}

function semanticModel(entity: Entity): object {
  const keyed = entityKeys(entity)
  const isEntity = new Set([...entity.joins.map(({ column }) => column), ...keyed.map(({ expr }) => expr)])
  const within = new Set(entity.metrics.flatMap(one => one.within))
  const needsEntity = keyed.every(({ type }) => type !== 'primary')
  return {
    name: modelName(entity.name),
    description: `${entity.description} ${entity.question}`,
    model: `ref('${modelName(entity.name)}')`,
    defaults: { agg_time_dimension: timeOf(entity) },
    ...(needsEntity && { primary_entity: `${entity.name}_row` }),
    entities: keyed,
    dimensions: entity.dimensions
      .filter(({ name, role }) => (role !== 'number' || within.has(name)) && !isEntity.has(name))
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
    measures: [...entity.metrics.flatMap(metric => declaredMeasures(entity, metric)), ...endsOf(entity)],
  }
}

/** Name of the unguarded metric, which adds up everything; users use the guarded one. */
function baseName(entity: Entity, name: string): string {
  const metric = entity.metrics.find(one => one.name === name)
  const isGuarded = metric !== undefined && guardsOf(entity, metric).length > 0
  return `${measureName(entity, name)}${isGuarded ? '_unguarded' : ''}`
}

/** Metrics of the totals that an average divides. */
const averageParts = (entity: Entity, one: EntityMetric, words: object): object[] =>
  one.weight === undefined && one.period === undefined
    ? []
    : measuresOf(entity, one).map(({ name, part }) => ({
        ...words,
        name: `${name}_unguarded`,
        label: `${one.title}, ${part}, of ${entity.title}`,
        type: 'simple',
        type_params: { measure: name },
      }))

function base(entity: Entity, one: EntityMetric, words: object): object {
  const { aggregation, numerator = '', denominator = '' } = one
  const [first, second] = measuresOf(entity, one)
  if (first && second)
    return {
      ...words,
      type: 'ratio',
      type_params: { numerator: `${first.name}_unguarded`, denominator: `${second.name}_unguarded` },
    }
  if (aggregation !== 'ratio') return { ...words, type: 'simple', type_params: { measure: first?.name } }
  const parts = partsOf(one)
  if (parts.length === 2 && parts[0] === numerator && parts[1] === denominator)
    return {
      ...words,
      type: 'ratio',
      type_params: { numerator: baseName(entity, numerator), denominator: baseName(entity, denominator) },
    }
  const by = Number(denominator) > 0 ? `${Number(denominator)}.0` : `nullif(${denominator}, 0)`
  return {
    ...words,
    type: 'derived',
    type_params: {
      expr: `cast(${numerator} as double precision) / ${by}`,
      metrics: [...new Set(parts)].map(name => ({ name: baseName(entity, name), alias: name })),
    },
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
    const mixed = of(
      baseName(entity, one.name),
      `${one.title}, unguarded,`,
      `A part of ${words.name}: use that one, as this adds up values that must not be mixed.`,
    )
    const parts = averageParts(entity, one, mixed)
    if (guardsOf(entity, one).length === 0) return [...parts, base(entity, one, words)]
    return [...parts, base(entity, one, mixed), guarded(entity, one, words)]
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
