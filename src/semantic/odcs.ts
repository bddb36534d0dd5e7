/** Writes a data contract of the Open Data Contract Standard, version 3.1: schema, keys, meaning, freshness. */
import { type BundleFile, type BundleRequest, yamlFile } from './bundle.ts'
import type { Dimension, Entity } from './entity.ts'

function logicalType(type: string): string {
  if (type === 'text') return 'string'
  if (type === 'boolean') return 'boolean'
  if (type === 'date') return 'date'
  if (type === 'timestamptz') return 'timestamp'
  return /^(integer|bigint)/.test(type) ? 'integer' : 'number'
}

function propertyOf(entity: Entity, { name, title, description, type, isKey }: Dimension): object {
  const metric = entity.metrics.find(one => one.name === name)
  const joins = entity.joins.filter(({ column }) => column === name)
  return {
    name,
    businessName: title,
    logicalType: logicalType(type),
    physicalType: type,
    description,
    ...(isKey && { primaryKey: true, primaryKeyPosition: entity.keys.indexOf(name) + 1, required: true }),
    ...(joins.length > 0 && {
      relationships: joins.map(join => ({ type: 'foreignKey', to: `${join.entity}.${join.target}` })),
    }),
    ...(metric && {
      customProperties: [
        { property: 'aggregation', value: metric.aggregation },
        { property: 'unit', value: metric.unit },
        ...(metric.within.length > 0 ? [{ property: 'within', value: [...metric.within] }] : []),
        ...(metric.weight === undefined ? [] : [{ property: 'weight', value: metric.weight }]),
        ...(metric.period === undefined ? [] : [{ property: 'period', value: metric.period }]),
        ...(metric.numerator === undefined
          ? []
          : [
              { property: 'numerator', value: metric.numerator },
              { property: 'denominator', value: metric.denominator },
            ]),
      ],
    }),
  }
}

const objectOf = (entity: Entity): object => ({
  name: entity.name,
  businessName: entity.title,
  logicalType: 'object',
  physicalType: entity.kind === 'view' ? 'view' : 'table',
  description: entity.description,
  dataGranularityDescription: entity.description.split('. ')[0],
  properties: entity.dimensions.map(one => propertyOf(entity, one)),
  customProperties: [
    { property: 'question', value: entity.question },
    { property: 'questionSql', value: entity.questionSql },
  ],
})

function serverOf({ place }: BundleRequest): object {
  const { kind, host, port, database, schema } = place
  return kind === 'file'
    ? { server: 'warehouse', type: 'duckdb', database, schema }
    : { server: 'warehouse', type: 'postgresql', host, port, database, schema }
}

export const odcsBundle = (request: BundleRequest): BundleFile[] => [
  yamlFile('muster.odcs.yaml', {
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: 'muster-marts',
    name: 'Marts of the workforce warehouse',
    version: request.version,
    status: 'active',
    description: {
      purpose:
        'Answers to questions about labour, hiring, hours and money, each with its grain and its measures.',
      limitations:
        'Columns may be added in any version. No personal data: workers are known by their reference.',
      usage: 'Read by BI tools and analysts; every column is described, and says when it does not add up.',
    },
    servers: [serverOf(request)],
    schema: request.entities.map(objectOf),
    slaDefaultElement: 'data_health.last_read_at',
    slaProperties: [
      { property: 'latency', value: 26, unit: 'h', element: 'data_health.last_read_at' },
      { property: 'frequency', value: 1, unit: 'd', element: 'data_health.last_read_at' },
    ],
  }),
]
