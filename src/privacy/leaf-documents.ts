/**
 * The undeclared leaves of a record as one JSON document, with the ids of persons that star has in their places: whose a leaf is
 * gets decided as in landed pages, by the same code.
 */
import { catalogue } from '../contract/catalogue.ts'
import type { Resource } from '../contract/fields/resource.ts'
import type { Child, Table } from '../contract/fields/table.ts'
import type { Engine } from '../warehouse/engine.ts'
import { constantsOf, memberTables, ownerColumn } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import type { Erasure, Person } from './erasures.ts'
import { isDocument } from './json-tree.ts'
import { personColumns } from './personal-fields.ts'
import type { Recogniser } from './recogniser.ts'
import { type FoundValues, scrubLeaves } from './scrub.ts'

const leafTables = [
  'star.attribute_leaf',
  'pii.attribute_leaf',
  'history.attribute_leaf',
  'pii.attribute_leaf_history',
]

/** A table of a record and where its rows stand in it. */
interface Rows {
  readonly resource: Resource
  readonly table: Table
  readonly above?: Rows
  readonly child?: Child
}

const rowsBelow = (rows: Rows): Rows[] => [
  rows,
  ...rows.table.children.flatMap(child =>
    child.lists.length === 1 && child.shape !== 'leaves'
      ? rowsBelow({ resource: rows.resource, table: child.table, above: rows, child })
      : [],
  ),
]

interface IdColumn {
  readonly column: string
  /** Of the id below the row; those of name and address for a contact, who has no id. */
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

/** Of all versions: record_id, row_hash, row_key, place in the record, and columns with ids. */
function placedRows({ resource, table, above, child }: Rows): string {
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

/** What a search of SQL leaves in: the rest holds none of the values. */
export type MayHold = (column: string) => string

const inRecords = (entity: string, ids: readonly string[]): string =>
  `entity = ${quoteText(entity)} and record_id in (${ids.map(quoteText).join(', ')})`

/** Records that name the person, or have a leaf with the id or, perhaps, with a value. */
async function candidates(
  engine: Engine,
  { kind, id }: Person,
  mayHold: MayHold,
): Promise<Map<string, string[]>> {
  const person = quoteText(id)
  const named = everyRows.flatMap(rows =>
    idColumns(rows.table).flatMap(column => {
      const at = quoteName(`id ${column.column}`)
      const isContact = column.kind === 'contact'
      if (!isContact && column.kind !== kind) return []
      const which = isContact
        ? `in (select id from ${contacts()} c where ${mayHold('email')} or ${mayHold('name')})`
        : `= ${person}`
      return [
        `select ${quoteText(rows.resource.entity)} as entity, record_id from (${placedRows(rows)}) r where ${at} ${which}`,
      ]
    }),
  )
  const leaves = leafTables.map(
    table => `select entity, record_id from ${table}
      where strpos(value_text, ${person}) > 0 or strpos(path, ${person}) > 0 or ${mayHold('value_text')} or ${mayHold('path')}`,
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

interface Leaf {
  readonly table: string
  readonly leaf_key: string
  readonly record_id: string
  readonly row_hash: string
  readonly path: string
  readonly value_text: string
  readonly value_type: string
}

interface Tree {
  leaf?: { readonly json: string; readonly of?: Leaf }
  readonly members: Map<string, Tree>
  readonly items: Tree[]
}

const tree = (): Tree => ({ members: new Map(), items: [] })

/** Keys and positions; a path that is none of ours is one key. */
export function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  const step = /\[(\d{1,6})\]|\.?("(?:[^"\\]|\\.)*"(?:#\d+)?)|\.?([^.[\]"]+)/y
  // A list at the top of a document comes as `config.0]`.
  const text = path.replace(/\.(\d{1,6})\]/g, '[$1]')
  while (step.lastIndex < text.length) {
    const found = step.exec(text)
    if (!found) return [path]
    const [, index, quoted, plain] = found
    if (index !== undefined) steps.push(Number(index))
    else steps.push(quoted?.endsWith('"') ? String(JSON.parse(quoted)) : (quoted ?? plain ?? ''))
  }
  return steps
}

function put(root: Tree, steps: readonly (string | number)[], leaf: NonNullable<Tree['leaf']>): void {
  let at = root
  for (const one of steps) {
    const next = (typeof one === 'number' ? at.items[one] : at.members.get(one)) ?? tree()
    if (typeof one === 'number') at.items[one] = next
    else at.members.set(one, next)
    at = next
  }
  if (!at.leaf) at.leaf = leaf
  else at.members.set(`#${at.members.size}`, { ...tree(), leaf })
}

/** Pieces of JSON; `places` gets where each leaf stands in them, in bytes. */
class Writer {
  readonly places: { readonly leaf: Leaf; readonly start: number; readonly end: number }[] = []
  #pieces: string[] = []
  #length = 0

  write(text: string): void {
    this.#pieces.push(text)
    this.#length += Buffer.byteLength(text)
  }

  tree({ leaf, members, items }: Tree): void {
    // A path may be a value in one place of a record and an object in another: the value counts as one of its fields.
    if (leaf && (members.size > 0 || items.length > 0)) members.set('#', { ...tree(), leaf })
    if (members.size > 0) {
      if (items.length > 0) members.set('[]', { ...tree(), items })
      for (const [index, [key, value]] of [...members].entries()) {
        this.write(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`)
        this.tree(value)
      }
      this.write('}')
    } else if (items.length > 0) {
      for (const [index, item] of Array.from(items).entries()) {
        this.write(index === 0 ? '[' : ',')
        if (item) this.tree(item)
        else this.write('null')
      }
      this.write(']')
    } else {
      const start = this.#length
      this.write(leaf?.json ?? 'null')
      if (leaf?.of) this.places.push({ leaf: leaf.of, start, end: this.#length })
    }
  }

  get bytes(): Buffer {
    return Buffer.from(this.#pieces.join(''))
  }
}

const isRaw = ({ value_type, value_text }: Leaf): boolean => value_type === 'json' && isDocument(value_text)

/** An id of a person, or the name or address of a contact, in its place. */
interface Named {
  readonly record_id: string
  readonly row_hash: string
  readonly place: string
  readonly path: readonly string[]
  readonly text: string
}

async function namedIn(engine: Engine, resource: Resource, ids: readonly string[]): Promise<Named[]> {
  const found: Named[] = []
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

/** Name and address of each. */
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

/** Records that are in memory at once. */
const recordsAtOnce = 1000

const grouped = <Row extends { record_id: string; row_hash: string }>(
  rows: readonly Row[],
): Map<string, Row[]> => {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = `${row.record_id} ${row.row_hash}`
    groups.set(group, [...(groups.get(group) ?? []), row])
  }
  return groups
}

interface Search {
  readonly recogniser: Recogniser
  readonly mayHold: MayHold
  readonly found?: FoundValues
}

/** A leaf and what it becomes. */
interface Change {
  readonly leaf: Leaf
  readonly text: string
}

interface Version {
  readonly resource: Resource | undefined
  readonly leaves: readonly Leaf[]
  readonly named: readonly Named[]
}

function changesIn({ resource, leaves, named }: Version, { recogniser, found }: Search): Change[] {
  const root = tree()
  for (const { place, path, text } of named)
    put(root, [...stepsOf(place), ...path], { json: JSON.stringify(text) })
  for (const leaf of leaves)
    put(root, stepsOf(leaf.path), {
      json: isRaw(leaf) ? leaf.value_text : JSON.stringify(leaf.value_text),
      of: leaf,
    })
  const writer = new Writer()
  writer.tree(root)
  return scrubLeaves(writer.bytes, recogniser, { resource, found, places: writer.places }).map(
    ({ leaf, text }) => ({ leaf, text: isRaw(leaf) ? text : String(JSON.parse(text)) }),
  )
}

async function changesOf(
  engine: Engine,
  { entity, ids }: { readonly entity: string; readonly ids: readonly string[] },
  search: Search,
): Promise<Change[]> {
  const resource = catalogue.find(one => one.entity === entity)
  const leaves: Leaf[] = []
  for (const table of leafTables)
    leaves.push(
      ...(await engine.rows<Leaf>(
        `select ${quoteText(table)} as "table", attribute_leaf_key as leaf_key, record_id, row_hash, path, value_text, value_type
         from ${table} where ${inRecords(entity, ids)} and value_type <> 'empty'`,
      )),
    )
  const named = resource ? await namedIn(engine, resource, ids) : []
  const byVersion = grouped(named)
  const byRecord = grouped(named.map(one => ({ ...one, row_hash: '' })))
  return [...grouped(leaves)].flatMap(([version, some]) => {
    const beside = byVersion.get(version) ?? byRecord.get(`${some[0]?.record_id} `) ?? []
    return changesIn({ resource, leaves: some, named: beside }, search)
  })
}

/** For their columns of text and type; leaves of one version of a record. */
export async function leafErasures(engine: Engine, person: Person, search: Search): Promise<Erasure[]> {
  const groups = new Map<string, { table: string; text: string; rows: string[] }>()
  for (const [entity, all] of await candidates(engine, person, search.mayHold))
    for (let from = 0; from < all.length; from += recordsAtOnce) {
      const ids = all.slice(from, from + recordsAtOnce)
      for (const { leaf, text } of await changesOf(engine, { entity, ids }, search)) {
        const { table } = leaf
        const group = groups.get(`${table} ${text}`) ?? { table, text, rows: [] }
        group.rows.push(quoteText(`${leaf.leaf_key} ${leaf.row_hash}`))
        groups.set(`${table} ${text}`, group)
      }
    }
  return [...groups.values()].map(({ table, text, rows }) => ({
    table,
    set: {
      value_text: quoteText(text),
      value_type: `case when value_type = 'json' then 'json' else 'text' end`,
    },
    where: `attribute_leaf_key || ' ' || row_hash in (${rows.join(', ')})`,
  }))
}
