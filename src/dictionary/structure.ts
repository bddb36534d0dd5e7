/** Reads all tables from an empty warehouse in memory, and finds the sources of the columns of views and marts. */

import { tmpdir } from 'node:os'
import { defaultDays } from '../lib/day-rule.ts'
import { additivityNotes } from '../marts/additivity.ts'
import { ownColumns, tableColumns } from '../marts/columns.ts'
import { fillTokens } from '../marts/inputs.ts'
import { inOrder, type Mart } from '../marts/mart.ts'
import { type MartView, viewsOf } from '../marts/views.ts'
import { migrate } from '../state/migrate.ts'
import { definitionsIn } from '../warehouse/duckdb/catalogue.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openStage } from '../warehouse/on-demand.ts'
import { type SchemaName, schemaNames, tablesNamed } from '../warehouse/schema/schemas.ts'
import { qualifiedName } from './entries.ts'
import { lineageOf } from './lineage.ts'

export interface DefinedColumn {
  readonly name: string
  readonly type: string
  readonly description: string
  /** Whether it is part of the key that the table itself declares. */
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

/** The common name of a type for DuckDB's own name. */
const spelled = (type: string): string =>
  words[type] ?? type.toLowerCase().replace('decimal', 'numeric').replaceAll(', ', ',')

/** In alphabetical order. */
async function read(engine: Engine): Promise<DefinedTable[]> {
  const found = await definitionsIn(engine)
  return found
    .flatMap(one => {
      const schema = schemaNames.find(name => name === one.schema)
      return schema ? [{ ...one, schema }] : []
    })
    .map(({ schema, name, kind, comment, sql, columns }) => ({
      schema,
      name,
      kind,
      description: comment ?? '',
      ...(kind === 'view' && { sql: sql.replace(/^create view .*? as /is, '').replace(/;\s*$/, '') }),
      columns: columns.map(({ name, type, comment, isKey }) => ({
        name,
        type: spelled(type),
        description: comment ?? '',
        isKey,
      })),
    }))
    .sort((one, other) => (qualifiedName(one) < qualifiedName(other) ? -1 : 1))
}

/** Calls `work` with every table and view of an empty warehouse, and with the DuckDB that has them. */
export async function withStructure<Result>(
  work: (tables: readonly DefinedTable[], engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openStage(tmpdir())
  try {
    // The warehouse is discarded, so any time will do.
    await migrate(engine, '1970-01-01T00:00:00.000Z')
    return await work(await read(engine), engine)
  } finally {
    await engine.close()
  }
}

export interface ComputedTable {
  readonly table: DefinedTable
  /** For each column, the qualified names of the columns it is computed from. */
  readonly from: readonly (readonly string[])[]
  /** Qualified names of all tables that the statement reads, including those that only filter rows. */
  readonly reads: readonly string[]
  readonly mart?: Mart
}

/** Lineage does not depend on the time. */
const sampleTime = { asOf: '1970-01-01T00:00:00.000Z', today: '1970-01-01', ...defaultDays }

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
): Promise<ComputedTable> {
  const made = await lineageOf(engine, fillTokens(mart.select, sampleTime), columnsOf)
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
): Promise<ComputedTable[]> {
  const known = new Map(
    [...defined, ...marts.map(martTable), ...marts.flatMap(viewsOf).map(viewTable)].map(table => [
      `${table.schema}.${table.name}`,
      table.columns.map(({ name }) => name),
    ]),
  )
  const columnsOf = (table: string): readonly string[] => known.get(table) ?? []
  const views = defined.filter(({ sql }) => sql !== undefined)
  const computed: ComputedTable[] = []
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
