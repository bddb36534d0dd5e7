/** The tables of star, pii and history with their columns, derived from the declared resources. */
import { catalogue } from '../../contract/catalogue.ts'
import { referenceDimensions } from '../../contract/dimensions.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import { storedTypes } from './column-type.ts'
import { type Place, placesOf } from './unique-key.ts'

export interface PhysicalColumn {
  readonly name: string
  readonly sql: string
  readonly description: string
}

export interface PhysicalTable {
  readonly schema: 'star' | 'pii' | 'history'
  readonly name: string
  readonly description: string
  readonly key: string
  /** Whether no two rows can have the same key, whatever the service sends. */
  readonly isUnique: boolean
  /** Column that identifies the record of a row: a new version of the record replaces all its rows. */
  readonly owner: string
  readonly columns: readonly PhysicalColumn[]
}

const column = (name: string, sql: string, description: string): PhysicalColumn => ({
  name,
  sql,
  description,
})

/** On every row; `loaded_at` is when its page was fetched, so that a replay writes the same time. */
export const rowColumns: readonly PhysicalColumn[] = [
  column('source_updated_at', 'timestamptz', 'When the record last changed at the source.'),
  column('first_loaded_at', 'timestamptz', 'When the first version of this row was fetched.'),
  column('loaded_at', 'timestamptz', 'When this version was fetched.'),
  column('run_id', 'text', 'Run that fetched this version.'),
  column('is_deleted', 'boolean', 'Whether the record is missing at the source.'),
  column('deleted_at', 'timestamptz', 'When it was found to be missing.'),
  column(
    'row_hash',
    'text',
    'Hash of the typed values of the record and its children, and after the dash of the bookkeeping of the service.',
  ),
  column(
    'valid_from',
    'timestamptz',
    'From when this version is valid: the source change that brought its content, else when it was fetched.',
  ),
]

const historyColumns: readonly PhysicalColumn[] = [
  column('valid_to', 'timestamptz', 'Until when it was valid: the change that replaced it.'),
]

const inferredFlag = column(
  'is_inferred',
  'boolean',
  'True while the row is known only by reference from other records.',
)

/** Names of dimensions that records refer to; each carries is_inferred. */
export const memberTables: ReadonlyMap<string, Table> = new Map(
  [...referenceDimensions, ...catalogue.map(resource => resource.table)]
    .filter(table => table.name.startsWith('dim_'))
    .map(table => [table.name.slice('dim_'.length), table]),
)

export const isMember = (table: Table): boolean =>
  memberTables.get(table.name.slice('dim_'.length))?.name === table.name

/** The column that identifies the record a row belongs to, in star and in the PII table. */
export function ownerColumn(table: Table, root: Table): string {
  if (table.name === root.name) return table.key
  const owner = Object.entries(table.columns).find(
    ([, { source }]) => source.from === 'root' && source.column === root.key,
  )
  if (!owner) throw new Error(`${table.name} does not carry ${root.key} of ${root.name}`)
  return owner[0]
}

/** Columns with a fixed value per resource, which separate its rows from those of others in a shared table. */
export function constantsOf(table: Table): [string, string][] {
  return Object.entries(table.columns).flatMap(([name, { source }]): [string, string][] =>
    source.from === 'constant' ? [[name, source.value]] : [],
  )
}

const physical = (name: string, { type, description }: Column): PhysicalColumn =>
  column(name, storedTypes[type].sql, description)

export const lengthColumn = (name: string): string => `${name}_length`

export function starColumns(table: Table): PhysicalColumn[] {
  const declared = Object.entries(table.columns).flatMap(([name, declaration]): PhysicalColumn[] => {
    if (declaration.privacy === 'open') return [physical(name, declaration)]
    if (declaration.privacy !== 'freeText') return []
    return [column(lengthColumn(name), 'bigint', `Characters of ${name}; the words are in pii.text.`)]
  })
  return isMember(table) ? [...declared, inferredFlag] : declared
}

/** Columns of the PII table without its key and owner; empty when the table has none. */
export function piiColumns(table: Table): [string, Column][] {
  return Object.entries(table.columns).filter(
    ([, { privacy }]) => privacy === 'personal' || privacy === 'restricted',
  )
}

function piiTableOf({ table, isUnique }: Place, root: Table): PhysicalTable[] {
  const restricted = piiColumns(table)
  if (restricted.length === 0) return []
  const owner = ownerColumn(table, root)
  const keys = [...new Set([table.key, owner])]
  const identity = keys.map(name => physical(name, table.columns[name] as Column))
  return [
    {
      schema: 'pii',
      name: table.piiTable,
      description: `Personal and restricted columns of star.${table.name}. ${table.description}`,
      key: table.key,
      isUnique,
      owner,
      columns: [
        ...identity,
        ...restricted.map(([name, declared]) => physical(name, declared)),
        ...rowColumns,
      ],
    },
  ]
}

/** The tables of star and pii that records of one table become. */
export function tablesOfRoot(root: Table): PhysicalTable[] {
  return placesOf(root).flatMap(place => {
    const { table, isUnique } = place
    const star: PhysicalTable = {
      schema: 'star',
      name: table.name,
      description: table.description,
      key: table.key,
      isUnique,
      owner: ownerColumn(table, root),
      columns: [...starColumns(table), ...rowColumns],
    }
    return [star, ...piiTableOf(place, root)]
  })
}

const leafColumns: readonly PhysicalColumn[] = [
  column('attribute_leaf_key', 'text', 'md5 of entity, record and path.'),
  column('entity', 'text', 'Kind of record.'),
  column('record_id', 'text', 'Key of the record.'),
  column('path', 'text', 'Path of the leaf in the record.'),
  column('value_text', 'text', 'Value as text.'),
  column(
    'value_type',
    'text',
    'number, boolean, text, empty for an empty list or object, or json for a value kept as one text: more than 1,000 leaves, a path beyond 500 characters, or text that no engine stores.',
  ),
]

const leaves = (schema: 'star' | 'pii'): PhysicalTable => ({
  schema,
  name: 'attribute_leaf',
  description:
    schema === 'star'
      ? 'One row per leaf of a record that has no column of its own: undeclared fields, JSON columns, digits lost to rounding.'
      : 'One row per leaf without a column whose path says it is personal or restricted.',
  key: 'attribute_leaf_key',
  isUnique: false,
  owner: 'record_id',
  columns: [...leafColumns, ...rowColumns],
})

const words: PhysicalTable = {
  schema: 'pii',
  name: 'text',
  description: 'One row per text that people typed; star keeps its length.',
  key: 'text_key',
  isUnique: false,
  owner: 'record_id',
  columns: [
    column('text_key', 'text', 'md5 of table, row and column.'),
    column('entity', 'text', 'Kind of record.'),
    column('record_id', 'text', 'Key of the record.'),
    column('table_name', 'text', 'Table of star that the text belongs to.'),
    column('row_key', 'text', 'Key of the row in that table.'),
    column('column_name', 'text', 'Column it would be.'),
    column('text', 'text', 'Text that somebody typed.'),
    ...rowColumns,
  ],
}

/** Superseded versions; those of pii stay in pii. */
export const historyOf = ({
  schema,
  name,
}: Pick<PhysicalTable, 'schema' | 'name'>): { schema: PhysicalTable['schema']; name: string } =>
  schema === 'pii' ? { schema: 'pii', name: `${name}_history` } : { schema: 'history', name }

/** The table, and that of its replaced versions. */
export function withHistory(table: PhysicalTable): PhysicalTable[] {
  return [
    table,
    {
      ...table,
      ...historyOf(table),
      isUnique: false,
      description: `Superseded versions of ${table.schema}.${table.name}. ${table.description}`,
      columns: [...table.columns, ...historyColumns],
    },
  ]
}

/** Each once; where several resources fill a table, its key is unique only if it is so in all of them. */
function uniqueByName(tables: readonly PhysicalTable[]): PhysicalTable[] {
  const byName = new Map<string, PhysicalTable>()
  for (const table of tables) {
    const name = `${table.schema}.${table.name}`
    byName.set(name, { ...table, isUnique: table.isUnique && (byName.get(name)?.isUnique ?? true) })
  }
  return [...byName.values()]
}

/** Every table of star, pii and history that a sync writes. */
export const physicalTables: readonly PhysicalTable[] = uniqueByName([
  ...[...referenceDimensions, ...catalogue.map(resource => resource.table)].flatMap(tablesOfRoot),
  leaves('star'),
  leaves('pii'),
  words,
]).flatMap(withHistory)
