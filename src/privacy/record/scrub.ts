/** Overwrites forgotten persons in the rows of a record: personal fields, and undeclared fields beside their ids. */
import type { FieldPath } from '../../contract/fields/column.ts'
import type { ChildTable, Table } from '../../contract/fields/table.ts'
import { contactFields, declaredPaths, personalFields, personColumns } from '../personal-fields.ts'
import type { PersonKind, Recogniser } from '../recogniser.ts'
import { type JsonNode, leavesOf, nodesAt, textOf } from './json-tree.ts'
import { describedLeaves, isIdentifying, type RecordFields } from './person-objects.ts'

/** Replaces a name, an address or a number. */
export const forgottenText = 'forgotten'

/** Replaces free text by a text of the same length, because star stores the length. */
export const blanked = (words: string): string => 'x'.repeat([...words].length)

/** Identifying values found in pages, of the person and of others, to search for in other places. */
export interface FoundValues {
  /** The person's, from declared fields. */
  readonly declared: Set<string>
  readonly undeclared: Set<string>
  readonly ofOthers: Set<string>
}

export interface PageScrub {
  readonly found?: FoundValues | undefined
  readonly bytes: Buffer
  readonly recogniser: Recogniser
  readonly texts: Map<JsonNode, string>
  /** Nodes about another person, who may have the same name. */
  readonly others: Set<JsonNode>
}

interface NodeRow {
  readonly table: Table
  readonly node: JsonNode
  readonly isSubject: boolean
  readonly changedAt: number | undefined
}

function overwrite({ bytes, texts }: PageScrub, node: JsonNode, isFreeText = false): void {
  for (const leaf of leavesOf(node)) {
    if (leaf.kind !== 'string') {
      // Numbers and booleans become null.
      if (bytes.toString('latin1', leaf.start, leaf.end) !== 'null') texts.set(leaf, 'null')
    } else if (leaf.end - leaf.start > 2)
      texts.set(leaf, JSON.stringify(isFreeText ? blanked(textOf(bytes, leaf)) : forgottenText))
  }
}

export const firstText = ({ bytes }: PageScrub, node: JsonNode, path: FieldPath): string | undefined => {
  const [found] = nodesAt(node, path)
  return found?.kind === 'string' ? textOf(bytes, found) : undefined
}

function overwritePersons(page: PageScrub, { table, node, changedAt }: NodeRow): boolean {
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

function noteValue({ bytes, found }: PageScrub, node: JsonNode): void {
  if (node.kind === 'string') found?.declared.add(textOf(bytes, node))
}

const personPaths = (table: Table): ReadonlyMap<string, PersonKind> =>
  new Map(personColumns(table).flatMap(({ kind, path }) => (path?.length ? [[path.join('.'), kind]] : [])))

interface ScrubFields extends Pick<RecordFields, 'declared' | 'persons' | 'lists'> {}

const noFields: ScrubFields = { declared: new Set(), persons: new Map(), lists: new Set() }
const fieldsOfTables = new WeakMap<Table, ScrubFields>()

function fieldsOf(table: Table): ScrubFields {
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

/** Overwrites undeclared fields that an id beside them assigns to a forgotten person. */
export function overwriteDescribed(
  page: PageScrub,
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
    recognises: text => recogniser.recognises(text, changedAt),
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

/** Recognises a person without an id by e-mail address, or by name if there is no address. */
function overwriteContacts(page: PageScrub, { table, node, changedAt }: NodeRow): void {
  for (const fields of contactFields(table)) {
    const nodes = fields.flatMap(path => nodesAt(node, path)).filter(({ kind }) => kind === 'string')
    const texts = nodes.map(one => textOf(page.bytes, one))
    const identity = texts.find(text => text.includes('@')) ?? texts[0]
    const isThis = identity !== undefined && page.recogniser.recognises(identity, changedAt)
    for (const one of nodes) {
      if (isThis) overwrite(page, one)
      else page.others.add(one)
    }
    const container = fields[0]?.slice(0, -1) ?? []
    if (isThis && container.length > 0) for (const one of nodesAt(node, container)) overwrite(page, one)
  }
}

/** Overwrites all undeclared fields of a record about the person, because they may contain anything. */
function overwriteUndeclared(page: PageScrub, { table, node }: NodeRow): void {
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

function elements(node: JsonNode, { lists, shape }: ChildTable): JsonNode[] {
  let found = [node]
  for (const path of lists)
    found = found
      .flatMap(one => nodesAt(one, path))
      .flatMap(one => (shape !== 'leaves' && one.kind === 'array' ? one.items : [one]))
  return found
}

export function visit(page: PageScrub, row: NodeRow): void {
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
