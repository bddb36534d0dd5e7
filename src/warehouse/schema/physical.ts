/** Derives the tables of star, pii and history with their columns from the declared resources. */
import { catalogue } from '../../contract/catalogue.ts'
import { referenceDimensions } from '../../contract/dimensions.ts'
import type { Column } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'
import { storedTypes } from './column-type.ts'
import { type KeyedTable, keyedTables } from './unique-key.ts'

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
  /** Whether the key is unique whatever the service sends. */
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
  column('deleted_at', 'timestamptz', 'When the record was found to be missing.'),
  column(
    'row_hash',
    'text',
    'Hash of the typed values of the record and its children; after the dash, of its bookkeeping columns.',
  ),
  column(
    'valid_from',
    'timestamptz',
    'When this version became valid: its change at the source, else when it was fetched.',
  ),
]

const historyColumns: readonly PhysicalColumn[] = [
  column('valid_to', 'timestamptz', 'When the next version replaced it.'),
]

const inferredFlag = column(
  'is_inferred',
  'boolean',
  'True while the row is known only from references in other records.',
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

/** Columns with a fixed value per resource, which separate the resources in a shared table. */
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

/** Columns of the PII table without its key and owner; empty if there is no PII table. */
export function piiColumns(table: Table): [string, Column][] {
  return Object.entries(table.columns).filter(
    ([, { privacy }]) => privacy === 'personal' || privacy === 'restricted',
  )
}

function piiTableOf({ table, isUnique }: KeyedTable, root: Table): PhysicalTable[] {
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

/** The tables of star and pii that records of one root table fill. */
export function tablesOfRoot(root: Table): PhysicalTable[] {
  return keyedTables(root).flatMap(place => {
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
      ? 'One row per leaf of a record without a column: undeclared fields, JSON columns, digits lost to rounding.'
      : 'One row per leaf without a column that is personal or restricted, judged by its path.',
  key: 'attribute_leaf_key',
  isUnique: false,
  owner: 'record_id',
  columns: [...leafColumns, ...rowColumns],
})

const words: PhysicalTable = {
  schema: 'pii',
  name: 'text',
  description: 'One row per free text that a user typed; star has its length.',
  key: 'text_key',
  isUnique: false,
  owner: 'record_id',
  columns: [
    column('text_key', 'text', 'md5 of table, row and column.'),
    column('entity', 'text', 'Kind of record.'),
    column('record_id', 'text', 'Key of the record.'),
    column('table_name', 'text', 'Table of star that the text belongs to.'),
    column('row_key', 'text', 'Key of the row in that table.'),
    column('column_name', 'text', 'Column of that table.'),
    column('text', 'text', 'The text.'),
    ...rowColumns,
  ],
}

/** The table of superseded versions; versions of pii rows stay in pii. */
export const historyOf = ({
  schema,
  name,
}: Pick<PhysicalTable, 'schema' | 'name'>): { schema: PhysicalTable['schema']; name: string } =>
  schema === 'pii' ? { schema: 'pii', name: `${name}_history` } : { schema: 'history', name }

/** The table and its history table. */
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

/** Lists each table once; a key of a shared table is unique only if it is unique for every resource. */
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

const columnsOfStates = ['company_id', 'project_id', 'agency_id', 'status', 'valid_from']

/** What a lake has of superseded versions, by table: which states a record had and since when, and no more of it. */
export const stateHistory: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  catalogue
    .filter(({ table }) => table.name.startsWith('fact_') && Object.hasOwn(table.columns, 'status'))
    .map(({ table }) => [`history.${table.name}`, new Set([table.key, ...columnsOfStates])]),
)
