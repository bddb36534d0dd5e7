/** The tables and views of the warehouse that are written to a lake, with their rows in the stage. */
import { basename } from 'node:path'
import { ledgerOfMarts } from '../state/tables.ts'
import { type CataloguedType, typedColumnsIn } from '../warehouse/catalogue.ts'
import type { Engine } from '../warehouse/engine.ts'
import { stateHistory } from '../warehouse/schema/physical.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { sqlFiles } from '../warehouse/sql-files.ts'
import { quoteNames } from '../warehouse/sql-text.ts'
import { lakeColumn } from './columns.ts'
import type { TableRows } from './table.ts'

export interface LakeSource {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly columns: readonly (CataloguedType & { readonly description: string })[]
}

/** Views that compute ages from the time at which they are read: stored, they would be wrong, and change with each publication. */
const viewsOfNow = (): ReadonlySet<string> =>
  new Set(
    sqlFiles('mart-view')
      .filter(({ text }) => /\bnow\(\)/.test(text))
      .map(({ name }) => `mart.${basename(name, '.sql')}`),
  )

/** Of ops and history, only what marts compute with. */
function isInLake({ schema, table, name }: CataloguedType): boolean {
  const key = `${schema}.${table}`
  if (schema === 'history') return stateHistory.get(key)?.has(name) ?? false
  return schema !== 'ops' || ledgerOfMarts.has(key)
}

/** Other views are written as tables. In the order of their names. */
export async function lakeSources(engine: Engine, schemas: readonly SchemaName[]): Promise<LakeSource[]> {
  const leftOut = viewsOfNow()
  const comments = await engine.comments()
  const commentOf = (schema: SchemaName, ...names: string[]): string =>
    comments.get([engine.schema(schema), ...names].join('.')) ?? ''
  const tables = new Map<string, LakeSource & { columns: (CataloguedType & { description: string })[] }>()
  for (const column of await typedColumnsIn(engine, schemas)) {
    const { schema, table: name } = column
    const key = `${schema}.${name}`
    if (leftOut.has(key) || !isInLake(column)) continue
    const table = tables.get(key) ?? { schema, name, description: commentOf(schema, name), columns: [] }
    table.columns.push({ ...column, description: commentOf(schema, name, column.name) })
    tables.set(key, table)
  }
  return [...tables.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

/** The folder of a table in the lake. */
const placeOf = ({ schema, name }: Pick<LakeSource, 'schema' | 'name'>): string => `${schema}/${name}`

export async function withRows<Result>(
  engine: Engine,
  source: LakeSource,
  work: (rows: TableRows) => Promise<Result>,
): Promise<Result> {
  const typed = source.columns.map(({ name, type }) => ({ name, sql: type }))
  const select = `select ${quoteNames(typed.map(({ name }) => name))} from ${qualified(source)}`
  let result: { readonly value: Result } | undefined
  await engine.rowsInStage(typed, select, async rows => {
    const types = await engine.stage.rows<{ name: string; type: string }>(
      `select column_name as name, column_type as type from (describe ${rows})`,
    )
    const typeOf = new Map(types.map(({ name, type }) => [name, type]))
    const columns = source.columns.map(({ name, type, description }) =>
      lakeColumn({ name, type: typeOf.get(name) ?? type, description }),
    )
    result = { value: await work({ table: placeOf(source), description: source.description, columns, rows }) }
  })
  if (!result) throw new Error(`the rows of ${placeOf(source)} were not read`)
  return result.value
}
