/** Reads the catalogue of a warehouse, in SQL that both engines understand. */
import type { Engine } from './engine.ts'
import type { SchemaName } from './schema/schemas.ts'
import { quoteText } from './sql-text.ts'

type CatalogueReader = Pick<Engine, 'rows' | 'schema'>

export interface CataloguedTable {
  readonly schema: SchemaName
  readonly name: string
  readonly isView: boolean
}

export interface CataloguedColumn {
  readonly schema: SchemaName
  readonly table: string
  readonly name: string
}

/** Rows of a view of the information schema about these schemas; `schema` becomes the plain name. */
async function informationOn<Row extends { readonly schema: SchemaName }>(
  engine: CatalogueReader,
  schemas: readonly SchemaName[],
  { columns, from }: { readonly columns: string; readonly from: string },
): Promise<Row[]> {
  const plain = new Map<string, SchemaName>(schemas.map(schema => [engine.schema(schema), schema]))
  const rows = await engine.rows<Row & { schema: string }>(
    `select table_schema as schema, ${columns} from information_schema.${from}
     where table_catalog = current_database() and table_schema in (${[...plain.keys()].map(quoteText).join(', ')})`,
  )
  return rows.map(row => ({ ...row, schema: plain.get(row.schema) ?? row.schema }))
}

/** Tables and views that this user may read. */
export const tablesIn = (
  engine: CatalogueReader,
  schemas: readonly SchemaName[],
): Promise<CataloguedTable[]> =>
  informationOn(engine, schemas, {
    columns: `table_name as name, table_type = 'VIEW' as "isView"`,
    from: 'tables',
  })

/** Columns of tables and views that this user may read. */
export const columnsIn = (
  engine: CatalogueReader,
  schemas: readonly SchemaName[],
): Promise<CataloguedColumn[]> =>
  informationOn(engine, schemas, { columns: 'table_name as "table", column_name as name', from: 'columns' })

export interface CataloguedType extends CataloguedColumn {
  /** As DuckDB reads it from either engine. */
  readonly type: string
}

/** Columns of tables and views with their types, in their order. */
export async function typedColumnsIn(
  engine: CatalogueReader,
  schemas: readonly SchemaName[],
): Promise<CataloguedType[]> {
  const rows = await informationOn<
    CataloguedType & { digits: number | null; scale: number | null; at: number }
  >(engine, schemas, {
    columns: `table_name as "table", column_name as name, ordinal_position as at, data_type as type,
        numeric_precision as digits, numeric_scale as scale`,
    from: 'columns',
  })
  return rows
    .toSorted((a, b) => (a.table === b.table ? Number(a.at) - Number(b.at) : a.table < b.table ? -1 : 1))
    .map(({ schema, table, name, type, digits, scale }) => {
      const isNumeric = type.toLowerCase() === 'numeric'
      return { schema, table, name, type: isNumeric ? `numeric(${digits ?? 38}, ${scale ?? 10})` : type }
    })
}

/** Columns of primary keys, as `schema.table.column` with the engine's schema name; empty if tables have no keys. */
export async function keyColumns(engine: Pick<Engine, 'rows'>): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ place: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as place from information_schema.key_column_usage`,
  )
  return new Set(rows.map(({ place }) => place))
}

/** Time zones that the engine knows. */
export async function timeZones(engine: Pick<Engine, 'rows'>): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ name: string }>('select name from pg_timezone_names()')
  return new Set(rows.map(({ name }) => name))
}
