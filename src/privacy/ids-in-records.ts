/** Finds records with undeclared leaves that may concern a person, and the places of person ids in them. */
import { catalogue } from '../contract/catalogue.ts'
import type { Resource } from '../contract/fields/resource.ts'
import type { ChildTable, Table } from '../contract/fields/table.ts'
import type { Engine } from '../warehouse/engine.ts'
import { constantsOf, memberTables, ownerColumn, physicalTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import type { PersonKey } from './erasures.ts'
import { personColumns } from './personal-fields.ts'

/** Tables of undeclared leaves, current and historical. */
export const leafTables = physicalTables
  .filter(({ name }) => name.startsWith('attribute_leaf'))
  .map(({ schema, name }) => `${schema}.${name}`)

/** A table that a record fills, and the place of its rows in the record. */
interface RecordTable {
  readonly resource: Resource
  readonly table: Table
  readonly above?: RecordTable
  readonly child?: ChildTable
}

const rowsBelow = (rows: RecordTable): RecordTable[] => [
  rows,
  ...rows.table.children.flatMap(child =>
    child.lists.length === 1 && child.shape !== 'leaves'
      ? rowsBelow({ resource: rows.resource, table: child.table, above: rows, child })
      : [],
  ),
]

interface IdColumn {
  readonly column: string
  /** Path of the id within the row; for a contact, who has no id, paths of name and address. */
  readonly paths: readonly (readonly string[])[]
  readonly kind: string
}

const idColumns = (table: Table): IdColumn[] => [
  ...personColumns(table).flatMap(({ column, path, kind }) =>
    path ? [{ column, paths: [path], kind }] : [],
  ),
  ...Object.entries(table.columns).flatMap(([column, { member }]) => {
    if (member?.dimension !== 'contact') return []
    const paths = ['name', 'email'].map(name => {
      const source = member.attributes[name]
      return source?.from === 'field' ? source.path : []
    })
    return [{ column, paths, kind: 'contact' }]
  }),
]

const everyRows = catalogue
  .flatMap(resource => rowsBelow({ resource, table: resource.table }))
  .filter(({ table }) => idColumns(table).length > 0)

/** Selects from all versions: record_id, row_hash, row_key, place in the record, and columns with ids. */
function placedRows({ resource, table, above, child }: RecordTable): string {
  const root = resource.table
  const ordinal = Object.entries(table.columns).find(([, { source }]) => source.from === 'ordinal')?.[0]
  const parent = Object.entries(table.columns).find(
    ([, { source }]) => source.from === 'parent' && source.column === above?.table.key,
  )?.[0]
  const columns = [
    `${quoteName(ownerColumn(table, root))} as record_id`,
    'row_hash',
    `${quoteName(table.key)} as row_key`,
    `${parent ? quoteName(parent) : quoteName(table.key)} as parent_key`,
    `${ordinal ? `'[' || cast(${quoteName(ordinal)} - 1 as varchar) || ']'` : `''`} as item`,
    ...idColumns(table).map(({ column }) => `${quoteName(column)} as ${quoteName(`id ${column}`)}`),
  ]
  const only = constantsOf(table).map(([name, value]) => `${quoteName(name)} = ${quoteText(value)}`)
  const versions = ['star', 'history']
    .map(
      schema =>
        `select ${columns.join(', ')} from ${schema}.${quoteName(table.name)} where ${only.join(' and ') || 'true'}`,
    )
    .join(' union all ')
  const list = quoteText(child?.lists[0]?.join('.') ?? '')
  if (!above || above.table === root)
    return `select t.*, ${list} || case when ${list} = '' then '' else item end as place from (${versions}) t`
  return `select t.*, p.place || '.' || ${list} || t.item as place
    from (${versions}) t join (${placedRows(above)}) p
    on p.row_key = t.parent_key and p.row_hash = t.row_hash and p.record_id = t.record_id`
}

const contacts = () => {
  const { key = '', piiTable = '' } = memberTables.get('contact') ?? {}
  const of = (table: string): string =>
    `select ${quoteName(key)} as id, name, email from pii.${quoteName(table)}`
  return `(${of(piiTable)} union all ${of(`${piiTable}_history`)})`
}

/** Builds an SQL condition that every cell with one of the values meets. */
export type CellFilter = (column: string) => string

export const inRecords = (entity: string, ids: readonly string[]): string =>
  `entity = ${quoteText(entity)} and record_id in (${ids.map(quoteText).join(', ')})`

/** Records that name the person, or have a leaf that contains the id or may contain a value. */
export async function candidates(
  engine: Engine,
  { kind, id }: PersonKey,
  cellFilter: CellFilter,
): Promise<Map<string, string[]>> {
  const person = quoteText(id)
  const named = everyRows.flatMap(rows =>
    idColumns(rows.table).flatMap(column => {
      const at = quoteName(`id ${column.column}`)
      const isContact = column.kind === 'contact'
      if (!isContact && column.kind !== kind) return []
      const which = isContact
        ? `in (select id from ${contacts()} c where ${cellFilter('email')} or ${cellFilter('name')})`
        : `= ${person}`
      return [
        `select ${quoteText(rows.resource.entity)} as entity, record_id from (${placedRows(rows)}) r where ${at} ${which}`,
      ]
    }),
  )
  const leaves = leafTables.map(
    table => `select entity, record_id from ${table}
      where strpos(value_text, ${person}) > 0 or strpos(path, ${person}) > 0 or ${cellFilter('value_text')} or ${cellFilter('path')}`,
  )
  const having = leafTables.map(table => `select entity, record_id from ${table}`).join(' union all ')
  const found = new Map<string, string[]>()
  for (const { entity, record_id } of await engine.rows<{ entity: string; record_id: string }>(
    `select distinct entity, record_id from (${[...named, ...leaves].join(' union all ')}) c
     where (entity || ' ' || record_id) in (select entity || ' ' || record_id from (${having}) l)`,
  ))
    found.set(entity, [...(found.get(entity) ?? []), record_id])
  return found
}

/** A person's id, or a contact's name or address, with its place in a record. */
export interface PersonReference {
  readonly record_id: string
  readonly row_hash: string
  readonly place: string
  readonly path: readonly string[]
  readonly text: string
}

export async function namedIn(
  engine: Engine,
  resource: Resource,
  ids: readonly string[],
): Promise<PersonReference[]> {
  const found: PersonReference[] = []
  for (const rows of everyRows.filter(one => one.resource === resource)) {
    const listed = await engine.rows<Record<string, string | null>>(
      `select * from (${placedRows(rows)}) r where record_id in (${ids.map(quoteText).join(', ')})`,
    )
    for (const { column, paths, kind } of idColumns(rows.table)) {
      const at = `id ${column}`
      const known =
        kind === 'contact'
          ? await contactsOf(
              engine,
              listed.map(row => row[at]),
            )
          : undefined
      for (const row of listed) {
        const texts = known ? (known.get(row[at] ?? '') ?? []) : [row[at]]
        for (const [index, text] of texts.entries())
          if (text && text !== '-1')
            found.push({
              record_id: row.record_id ?? '',
              row_hash: row.row_hash ?? '',
              place: row.place ?? '',
              path: paths[index] ?? [],
              text,
            })
      }
    }
  }
  return found
}

/** Name and address of each contact, by id. */
async function contactsOf(
  engine: Engine,
  ids: readonly (string | null | undefined)[],
): Promise<Map<string, (string | null)[]>> {
  const list = [...new Set(ids)].filter(id => id && id !== '-1').map(id => quoteText(id ?? ''))
  if (list.length === 0) return new Map()
  const rows = await engine.rows<{ id: string; name: string | null; email: string | null }>(
    `select id, name, email from ${contacts()} c where id in (${list.join(', ')})`,
  )
  return new Map(rows.map(({ id, name, email }) => [id, [name, email]]))
}
