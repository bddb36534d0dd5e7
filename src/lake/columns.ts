/** Types of a table's columns in the lake, and how its schema grows. */
import { MusterError } from '../lib/errors.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { connectionColumn } from './actions.ts'

export interface LakeColumn {
  readonly name: string
  /** As Delta names it. */
  readonly type: string
  readonly description: string
}

interface SourceColumn {
  readonly name: string
  /** As DuckDB names it. */
  readonly type: string
  readonly description: string
}

const plainTypes: Readonly<Record<string, string>> = {
  BIGINT: 'long',
  UINTEGER: 'long',
  INTEGER: 'integer',
  SMALLINT: 'integer',
  TINYINT: 'integer',
  USMALLINT: 'integer',
  UTINYINT: 'integer',
  UBIGINT: 'decimal(38,0)',
  HUGEINT: 'decimal(38,0)',
  DOUBLE: 'double',
  FLOAT: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
}

/** Anything else, such as a time or a document, is text. */
export function lakeColumn({ name, type, description }: SourceColumn): LakeColumn {
  const [, digits, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  const known = digits === undefined ? plainTypes[type] : `decimal(${digits},${scale})`
  return { name, type: known ?? 'string', description }
}

const duckdbTypes: Readonly<Record<string, string>> = {
  long: 'bigint',
  integer: 'integer',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamptz',
  string: 'varchar',
}

/** Selects a column as its type in the lake; texts only where they are text. */
export const storedValue = ({ name, type }: LakeColumn): string =>
  `cast(${quoteName(name)} as ${duckdbTypes[type] ?? type}) as ${quoteName(name)}`

interface SchemaField {
  readonly name: string
  readonly type: unknown
  readonly nullable: boolean
  readonly metadata: Readonly<Record<string, unknown>>
}

const fieldOf = ({ name, type, description }: LakeColumn): SchemaField => ({
  name,
  type,
  nullable: true,
  metadata: description === '' ? {} : { comment: description },
})

const partitionField = fieldOf({
  name: connectionColumn,
  type: 'string',
  description: 'Name of the connection in the settings of muster.',
})

export const schemaText = (columns: readonly LakeColumn[]): string =>
  JSON.stringify({ type: 'struct', fields: [partitionField, ...columns.map(fieldOf)] })

export function columnsIn(schemaString: string): LakeColumn[] {
  const { fields } = JSON.parse(schemaString) as { readonly fields: readonly SchemaField[] }
  return fields
    .filter(({ name }) => name !== connectionColumn)
    .map(({ name, type, metadata }) => ({
      name,
      type: typeof type === 'string' ? type : JSON.stringify(type),
      description: String(metadata.comment ?? ''),
    }))
}

const decimalOf = (type: string): { readonly whole: number; readonly scale: number } | undefined => {
  const [, digits, scale] = /^decimal\((\d+),(\d+)\)$/.exec(type) ?? []
  if (digits !== undefined) return { whole: Number(digits) - Number(scale), scale: Number(scale) }
  if (type === 'long') return { whole: 19, scale: 0 }
  return type === 'integer' ? { whole: 10, scale: 0 } : undefined
}

/** The type that holds the values of both; undefined if none does. */
export function widerType(one: string, other: string): string | undefined {
  if (one === other) return one
  const pair = new Set([one, other])
  if (pair.has('integer') && pair.has('long')) return 'long'
  if (pair.has('double') && pair.has('integer')) return 'double'
  const [a, b] = [decimalOf(one), decimalOf(other)]
  if (!a || !b) return undefined
  const scale = Math.max(a.scale, b.scale)
  const digits = Math.max(a.whole, b.whole) + scale
  return digits > 38 ? undefined : `decimal(${digits},${scale})`
}

export interface GrownSchema {
  readonly columns: readonly LakeColumn[]
  /** Whether files that exist have a narrower type: they must be written again. */
  readonly isWidened: boolean
  readonly isChanged: boolean
}

/**
 * The columns of the table and those that this connection adds. A column that only other connections have stays, and is null
 * here. Throws MusterError for a column whose two types have no wider one.
 */
export function growSchema(
  stored: readonly LakeColumn[],
  ours: readonly LakeColumn[],
  where: string,
): GrownSchema {
  const mine = new Map(ours.map(column => [column.name, column]))
  let isWidened = false
  const kept = stored.map(column => {
    const own = mine.get(column.name)
    mine.delete(column.name)
    if (!own) return column
    const type = widerType(column.type, own.type)
    if (type === undefined)
      throw new MusterError({
        what: `column ${column.name} is ${column.type} in the lake and ${own.type} in this warehouse`,
        where,
        next: 'publish every connection with one version of muster, or move the table away; nothing was written',
      })
    if (type !== column.type) isWidened = true
    return { ...own, type }
  })
  const columns = [...kept, ...mine.values()]
  return { columns, isWidened, isChanged: schemaText(columns) !== schemaText(stored) }
}
