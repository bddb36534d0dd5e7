/** Writes a data model of Cube: a cube for each mart and view, with its joins. */
import { type BundleFile, type BundleRequest, yamlFile } from './bundle.ts'
import {
  countedSql,
  type Dimension,
  type Entity,
  type EntityMetric,
  guardedSql,
  withinWords,
} from './entity.ts'

const types: Readonly<Record<Dimension['role'], string>> = {
  id: 'string',
  name: 'string',
  category: 'string',
  flag: 'boolean',
  time: 'time',
  number: 'number',
}

/** A measure may not have the name of a dimension: numbers that are measured are not dimensions. */
const dimensionsOf = ({ dimensions, metrics }: Entity): Dimension[] => {
  const measured = new Set(metrics.map(({ name }) => name))
  return dimensions.filter(({ name }) => !measured.has(name))
}

/** Cube computes rows of a joined table once by the key; several columns are one text. */
function keyOf({ keys }: Entity): object {
  const [only] = keys
  const sql = keys.map(key => `cast({CUBE}.${key} as text)`).join(" || '|' || ")
  return {
    name: 'row_key',
    sql: keys.length === 1 ? `{CUBE}.${only}` : sql,
    type: 'string',
    primary_key: true,
    public: false,
  }
}

const own = (column: string): string => `{CUBE}.${column}`

/** Columns of the cube itself, in an expression over columns. */
const owned = (sql: string, { dimensions }: Entity): string => {
  const names = new Set(dimensions.map(({ name }) => name))
  return sql.replace(/[a-z_]\w*/g, word => (names.has(word) ? own(word) : word))
}

const simple: Readonly<Partial<Record<EntityMetric['aggregation'], string>>> = {
  sum: 'sum',
  max: 'max',
  min: 'min',
  average: 'avg',
}

/** Writes what Cube must not add up itself as an expression: formulas, and what holds within one currency or week. */
function measure(entity: Entity, metric: EntityMetric): object {
  const { name, title, description, aggregation, column = '', sql, unit, within, weight, period } = metric
  const words = {
    name,
    title,
    description: [description, withinWords(metric)].filter(text => text !== '').join(' '),
    // Only shares: Cube's currency format is dollars.
    ...(unit === 'share' && { format: 'percent' }),
    meta: { aggregation, unit, ...(within.length > 0 && { within: [...within] }) },
  }
  const type = weight === undefined && period === undefined ? simple[aggregation] : undefined
  if (aggregation === 'count' && within.length === 0) return { ...words, type: 'count' }
  if (aggregation === 'distinct' && within.length === 0)
    return { ...words, type: 'count_distinct', sql: countedSql(own(column)) }
  if (type !== undefined && within.length === 0) return { ...words, type, sql: own(column) }
  return { ...words, type: 'number', sql: guardedSql({ sql: owned(sql, entity), within }, own) }
}

/** PostgreSQL cuts an alias, `cube__member`, after 63 bytes; that of a time ends with its grain, such as `_quarter`. */
const longestAlias = 63 - '_quarter'.length

/** The first letters of the words of a cube whose aliases would be too long. */
function shortName({ name, dimensions, metrics }: Entity): string | undefined {
  const longest = Math.max(0, ...[...dimensions, ...metrics].map(member => member.name.length))
  if (name.length + 2 + longest <= longestAlias) return undefined
  return name.replace(/([a-z])[a-z]*_?/g, '$1')
}

const cubeOf = (entity: Entity, schema: string): object => ({
  name: entity.name,
  sql_alias: shortName(entity),
  title: entity.title,
  description: `${entity.description} ${entity.question}`,
  sql_table: `${schema}.${entity.name}`,
  joins: entity.joins
    .filter((join, place, all) => all.findIndex(one => one.entity === join.entity) === place)
    .map(({ column, entity: other, target }) => ({
      name: other,
      relationship: 'many_to_one',
      sql: `{CUBE}.${column} = {${other}}.${target}`,
    })),
  dimensions: [
    ...(entity.keys.length > 0 ? [keyOf(entity)] : []),
    ...dimensionsOf(entity).map(({ name, title, description, role }) => ({
      name,
      title,
      description,
      sql: role === 'time' ? `cast({CUBE}.${name} as timestamp)` : `{CUBE}.${name}`,
      type: types[role],
    })),
  ],
  measures: entity.metrics.map(one => measure(entity, one)),
})

export const cubeBundle = ({ entities, place }: BundleRequest): BundleFile[] =>
  entities.map(entity =>
    yamlFile(`model/cubes/${entity.name}.yml`, { cubes: [cubeOf(entity, place.schema)] }),
  )
