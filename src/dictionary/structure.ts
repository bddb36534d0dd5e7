/** The structure of a warehouse as an engine holds it: an empty one, made in memory, is asked for all it was given. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../state/migrate.ts'
import { openStage } from '../warehouse/duckdb/open.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { SchemaName } from '../warehouse/schema/schemas.ts'

export interface HeldColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  /** Part of the key that the table itself declares. */
  readonly isKey: boolean
}

export interface HeldTable {
  readonly schema: SchemaName
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly description: string
  /** What a view selects. */
  readonly sql?: string
  readonly columns: readonly HeldColumn[]
}

const words: Readonly<Record<string, string>> = {
  VARCHAR: 'text',
  BIGINT: 'bigint',
  INTEGER: 'integer',
  DOUBLE: 'double precision',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
}

/** DuckDB's own name of a type in the words that both engines know. */
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

async function read(engine: Engine): Promise<HeldTable[]> {
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

/** Runs `work` with every table and view of an empty warehouse, and the DuckDB that holds it. */
export async function withStructure<Result>(
  work: (tables: readonly HeldTable[], engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openStage(join(tmpdir(), 'muster-structure'))
  try {
    // The time of a structure that nobody keeps says nothing.
    await migrate(engine, '1970-01-01T00:00:00.000Z')
    return await work(await read(engine), engine)
  } finally {
    await engine.close()
  }
}
