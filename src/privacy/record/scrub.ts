/** Overwrites forgotten persons in the rows of a record: their personal fields, and what nobody declared beside their ids. */
import type { Path } from '../../contract/fields/column.ts'
import type { Child, Table } from '../../contract/fields/table.ts'
import { contactFields, declaredPaths, personalFields, personColumns } from '../personal-fields.ts'
import type { PersonKind, Recogniser } from '../recogniser.ts'
import { type JsonNode, leavesOf, nodesAt, textOf } from './json-tree.ts'
import { describedLeaves, isIdentifying, type RecordFields } from './person-objects.ts'

/** In place of a name, an address or a number. */
export const forgottenText = 'forgotten'

/** In place of words: star keeps their length. */
export const blanked = (words: string): string => 'x'.repeat([...words].length)

/** Values that pages give to the person, and to others, so that they are looked for elsewhere too. */
export interface FoundValues {
  /** In declared fields. */
  readonly declared: Set<string>
  readonly undeclared: Set<string>
  readonly ofOthers: Set<string>
}

export interface Page {
  readonly found?: FoundValues | undefined
  readonly bytes: Buffer
  readonly recogniser: Recogniser
  readonly texts: Map<JsonNode, string>
  /** What describes another person, who may have the same name. */
  readonly others: Set<JsonNode>
}

interface Row {
  readonly table: Table
  readonly node: JsonNode
  readonly isSubject: boolean
  readonly changedAt: number | undefined
}

function overwrite({ bytes, texts }: Page, node: JsonNode, isFreeText = false): void {
  for (const leaf of leavesOf(node)) {
    if (leaf.kind !== 'string') {
      // Numbers, true and false; null stays.
      if (bytes.toString('latin1', leaf.start, leaf.end) !== 'null') texts.set(leaf, 'null')
    } else if (leaf.end - leaf.start > 2)
      texts.set(leaf, JSON.stringify(isFreeText ? blanked(textOf(bytes, leaf)) : forgottenText))
  }
}

export const firstText = ({ bytes }: Page, node: JsonNode, path: Path): string | undefined => {
  const [found] = nodesAt(node, path)
  return found?.kind === 'string' ? textOf(bytes, found) : undefined
}

function overwritePersons(page: Page, { table, node, changedAt }: Row): boolean {
  let isSubject = false
  for (const { kind, path, isSubject: ofRow, attributes } of personColumns(table)) {
    const id = path && firstText(page, node, path)
    if (id === undefined) continue
    const described = attributes.flatMap(at => nodesAt(node, at))
    if (!page.recogniser.isForgotten(kind, id, changedAt)) {
      for (const one of [...described, ...(ofRow && attributes.length === 0 ? ownFields(table, node) : [])])
        page.others.add(one)
      continue
    }
    for (const one of described) {
      noteValue(page, one)
      overwrite(page, one)
    }
    if (ofRow && attributes.length === 0) for (const one of ownFields(table, node)) noteValue(page, one)
    isSubject ||= ofRow
  }
  return isSubject
}

function noteValue({ bytes, found }: Page, node: JsonNode): void {
  if (node.kind === 'string') found?.declared.add(textOf(bytes, node))
}

const personPaths = (table: Table): ReadonlyMap<string, PersonKind> =>
  new Map(personColumns(table).flatMap(({ kind, path }) => (path?.length ? [[path.join('.'), kind]] : [])))

interface Fields extends Pick<RecordFields, 'declared' | 'persons' | 'lists'> {}

const noFields: Fields = { declared: new Set(), persons: new Map(), lists: new Set() }
const fieldsOfTables = new WeakMap<Table, Fields>()

function fieldsOf(table: Table): Fields {
  const known = fieldsOfTables.get(table)
  if (known) return known
  const rows = table.children.filter(({ shape }) => shape !== 'leaves')
  const fields = {
    declared: declaredPaths(table),
    persons: personPaths(table),
    lists: new Set(rows.map(({ lists }) => lists[0]?.join('.') ?? '')),
  }
  fieldsOfTables.set(table, fields)
  return fields
}

/** What nobody declared and an id beside it gives to somebody. */
export function overwriteDescribed(
  page: Page,
  node: JsonNode,
  {
    table,
    changedAt,
    skipped = new Set(),
  }: { table?: Table; changedAt?: number | undefined; skipped?: Set<JsonNode> },
): void {
  const { recogniser, bytes, found } = page
  const record: RecordFields = {
    ...(table ? fieldsOf(table) : noFields),
    bytes,
    isRow: table !== undefined,
    skipped,
    isForgotten: (kind, id) => recogniser.isForgotten(kind, id, changedAt),
    tells: text => recogniser.tells(text, changedAt),
  }
  for (const one of describedLeaves(record, node)) {
    if (one.leaf.kind === 'string' && isIdentifying(one))
      (one.owner === 'other' ? found?.ofOthers : found?.undeclared)?.add(textOf(bytes, one.leaf))
    if (one.owner === 'other') page.others.add(one.leaf)
    else overwrite(page, one.leaf)
  }
}

const ownFields = (table: Table, node: JsonNode): JsonNode[] =>
  personalFields(table).flatMap(({ path }) => nodesAt(node, path))

/** Somebody named without an id is the one with this address, or, without an address, with this name. */
function overwriteContacts(page: Page, { table, node, changedAt }: Row): void {
  for (const fields of contactFields(table)) {
    const nodes = fields.flatMap(path => nodesAt(node, path)).filter(({ kind }) => kind === 'string')
    const texts = nodes.map(one => textOf(page.bytes, one))
    const identity = texts.find(text => text.includes('@')) ?? texts[0]
    const isThis = identity !== undefined && page.recogniser.tells(identity, changedAt)
    for (const one of nodes) {
      if (isThis) overwrite(page, one)
      else page.others.add(one)
    }
    const container = fields[0]?.slice(0, -1) ?? []
    if (isThis && container.length > 0) for (const one of nodesAt(node, container)) overwrite(page, one)
  }
}

/** Fields without a column, in a record about the person: they may hold anything. */
function overwriteUndeclared(page: Page, { table, node }: Row): void {
  const declared = declaredPaths(table)
  const lists = new Set(table.children.map(({ lists }) => lists[0]?.join('.') ?? ''))
  const open: { at: string; node: JsonNode }[] = [{ at: '', node }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { at, node } = next
    if (at !== '' && (declared.has(at) || lists.has(at))) continue
    if (node.kind === 'object')
      for (const [key, value] of node.members)
        open.push({ at: at === '' ? key : `${at}.${key}`, node: value })
    else overwrite(page, node)
  }
}

function elements(node: JsonNode, { lists, shape }: Child): JsonNode[] {
  let found = [node]
  for (const path of lists)
    found = found
      .flatMap(one => nodesAt(one, path))
      .flatMap(one => (shape !== 'leaves' && one.kind === 'array' ? one.items : [one]))
  return found
}

export function visit(page: Page, row: Row): void {
  const { table, node, changedAt } = row
  const isSubject = overwritePersons(page, row) || row.isSubject
  overwriteContacts(page, row)
  if (isSubject) {
    for (const { path, isFreeText } of personalFields(table))
      for (const one of nodesAt(node, path)) overwrite(page, one, isFreeText)
    overwriteUndeclared(page, row)
  }
  overwriteDescribed(page, node, row)
  for (const child of table.children)
    for (const element of elements(node, child))
      visit(page, { table: child.table, node: element, isSubject, changedAt })
}
