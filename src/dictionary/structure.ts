/** All tables: those of an empty warehouse made in memory, and the sources of the columns of views and marts. */

import { tmpdir } from 'node:os'
import { usualZone } from '../lib/zones.ts'
import { additivityNotes } from '../marts/additivity.ts'
import { ownColumns, tableColumns } from '../marts/columns.ts'
import { fillTokens } from '../marts/inputs.ts'
import { inOrder, type Mart } from '../marts/mart.ts'
import { type MartView, viewsOf } from '../marts/views.ts'
import { migrate } from '../state/migrate.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openStage } from '../warehouse/on-demand.ts'
import { type SchemaName, tablesNamed } from '../warehouse/schema/schemas.ts'
import { lineageOf } from './lineage.ts'

export interface DefinedColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  /** Part of the key that the table itself declares. */
  readonly isKey: boolean
}

export interface DefinedTable {
  readonly schema: SchemaName
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly description: string
  /** The statement of a view. */
  readonly sql?: string
  readonly columns: readonly DefinedColumn[]
}

const words: Readonly<Record<string, string>> = {
  VARCHAR: 'text',
  BIGINT: 'bigint',
  INTEGER: 'integer',
  DOUBLE: 'double precision',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
}

/** The name of a type that both engines know, for DuckDB's own. */
const spelled = (type: string): string =>
  words[type] ?? type.toLowerCase().replace('decimal', 'numeric').replaceAll(', ', ',')

interface Row {
  readonly schema: SchemaName
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly comment: string | null
  readonly sql: string | null
}

interface ColumnRow {
  readonly at: string
  readonly name: string
  readonly type: string
  readonly comment: string | null
}

async function declaredKeys(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ at: string }>(
    `select schema_name || '.' || table_name || '.' || unnest(constraint_column_names) as at
     from duckdb_constraints() where constraint_type = 'PRIMARY KEY'`,
  )
  return new Set(rows.map(({ at }) => at))
}

async function read(engine: Engine): Promise<DefinedTable[]> {
  const ours = `not internal and schema_name in ('star', 'mart', 'history', 'pii', 'ops')`
  const tables = await engine.rows<Row>(
    `select schema_name as schema, table_name as name, 'table' as kind, comment, null as sql from duckdb_tables() where ${ours}
     union all select schema_name, view_name, 'view', comment, sql from duckdb_views() where ${ours} order by 1, 2`,
  )
  const columns = await engine.rows<ColumnRow>(
    `select schema_name || '.' || table_name as at, column_name as name, data_type as type, comment
     from duckdb_columns() where ${ours} order by column_index`,
  )
  const keys = await declaredKeys(engine)
  const byTable = new Map<string, ColumnRow[]>()
  for (const column of columns) byTable.set(column.at, [...(byTable.get(column.at) ?? []), column])
  return tables.map(({ schema, name, kind, comment, sql }) => ({
    schema,
    name,
    kind,
    description: comment ?? '',
    ...(sql !== null && { sql: sql.replace(/^create view .*? as /is, '').replace(/;\s*$/, '') }),
    columns: (byTable.get(`${schema}.${name}`) ?? []).map(column => ({
      name: column.name,
      type: spelled(column.type),
      description: column.comment ?? '',
      isKey: keys.has(`${schema}.${name}.${column.name}`),
    })),
  }))
}

/** Calls `work` with every table and view of an empty warehouse, and with the DuckDB that has them. */
export async function withStructure<Result>(
  work: (tables: readonly DefinedTable[], engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openStage(tmpdir())
  try {
    // The structure is thrown away, so any time will do.
    await migrate(engine, '1970-01-01T00:00:00.000Z')
    return await work(await read(engine), engine)
  } finally {
    await engine.close()
  }
}

export interface Computed {
  readonly table: DefinedTable
  /** For each column, the qualified names of the columns it is computed from. */
  readonly from: readonly (readonly string[])[]
  /** Qualified names of all tables that the statement reads, also of those that only decide which rows there are. */
  readonly reads: readonly string[]
  readonly mart?: Mart
}

/** Lineage does not depend on the moment. */
const moment = { asOf: '1970-01-01T00:00:00.000Z', today: '1970-01-01', zone: usualZone }

/** The table that `muster build` creates for a mart. */
function martTable(mart: Mart): DefinedTable {
  const { name, summary, grain } = mart
  const notes = additivityNotes(mart)
  return {
    schema: 'mart',
    name,
    kind: 'table',
    description: `${grain.charAt(0).toUpperCase()}${grain.slice(1).replace(/\.$/, '')}. ${summary}`,
    columns: tableColumns(mart).map(one => ({
      ...one,
      description: `${one.description}${notes.get(one.name) ?? ''}`,
    })),
  }
}

const viewTable = ({ name, description, columns, select }: MartView): DefinedTable => ({
  schema: 'mart',
  name,
  kind: 'view',
  description,
  sql: select,
  columns,
})

/** A mart, with the columns that the build adds to those of its statement. */
async function computedMart(
  engine: Engine,
  mart: Mart,
  columnsOf: (table: string) => readonly string[],
): Promise<Computed> {
  const made = await lineageOf(engine, fillTokens(mart.select, moment), columnsOf)
  const from = ownColumns(mart).map(({ name, computed }) =>
    computed ? computed.from : (made[mart.columns.findIndex(one => one.name === name)] ?? []),
  )
  const joined = ownColumns(mart).flatMap(({ computed }) => computed?.reads ?? [])
  return { table: martTable(mart), from, reads: [...new Set([...mart.reads, ...joined])].sort(), mart }
}

/** Views and marts, each after those it reads. Throws for a statement that DuckDB cannot parse. */
export async function computedTables(
  engine: Engine,
  defined: readonly DefinedTable[],
  marts: readonly Mart[],
): Promise<Computed[]> {
  const known = new Map(
    [...defined, ...marts.map(martTable), ...marts.flatMap(viewsOf).map(viewTable)].map(table => [
      `${table.schema}.${table.name}`,
      table.columns.map(({ name }) => name),
    ]),
  )
  const columnsOf = (table: string): readonly string[] => known.get(table) ?? []
  const views = defined.filter(({ sql }) => sql !== undefined)
  const computed: Computed[] = []
  for (const table of views) {
    const sql = table.sql ?? ''
    computed.push({ table, from: await lineageOf(engine, sql, columnsOf), reads: tablesNamed(sql) })
  }
  for (const mart of inOrder(marts)) {
    computed.push(await computedMart(engine, mart, columnsOf))
    for (const table of viewsOf(mart).map(viewTable)) {
      const sql = table.sql ?? ''
      computed.push({ table, from: await lineageOf(engine, sql, columnsOf), reads: tablesNamed(sql) })
    }
  }
  return computed
}
