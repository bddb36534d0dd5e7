/** Takes forgotten persons out of a page: their personal fields are overwritten, every other byte stays. */
import type { Path } from '../contract/fields/column.ts'
import { type Resource, rowsAt } from '../contract/fields/resource.ts'
import type { Child, Table } from '../contract/fields/table.ts'
import {
  isDocument,
  type JsonNode,
  jsonTree,
  keysOf,
  leavesOf,
  nodesAt,
  replaced,
  textOf,
} from './json-tree.ts'
import { describedLeaves, isIdentifying, type RecordFields } from './person-objects.ts'
import { contactFields, declaredPaths, personalFields, personColumns } from './personal-fields.ts'
import type { PersonKind, Recogniser } from './recogniser.ts'

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

interface Page {
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

const firstText = ({ bytes }: Page, node: JsonNode, path: Path): string | undefined => {
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
function overwriteDescribed(
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

function visit(page: Page, row: Row): void {
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

/** Of a text that is itself JSON, such as the body of an event; undefined for any other. */
function scrubbedDocument(text: string, recogniser: Recogniser): string | undefined {
  return isDocument(text) ? scrubRecord(Buffer.from(text), recogniser, undefined).toString() : undefined
}

/** A telephone number as a JSON number. */
const longNumber = /^\d{9,}$/

/** Names, addresses and numbers wherever else they stand, also as keys. */
function overwriteValues(
  { bytes, recogniser, texts, others }: Page,
  node: JsonNode,
  changedAt?: number,
): void {
  const exempt = new Set([...others].flatMap(one => [...leavesOf(one), ...keysOf(one)]))
  const left = (one: JsonNode): boolean => !texts.has(one) && !exempt.has(one)
  for (const leaf of leavesOf(node).filter(left)) {
    const text = leaf.kind === 'string' ? textOf(bytes, leaf) : bytes.toString('latin1', leaf.start, leaf.end)
    if (leaf.kind !== 'string' && !longNumber.test(text)) continue
    const document = leaf.kind === 'string' ? scrubbedDocument(text, recogniser) : undefined
    if (document !== undefined) texts.set(leaf, JSON.stringify(document))
    if (document !== undefined) continue
    if (!recogniser.tells(text, changedAt)) continue
    const rest = text.length > 40 ? blanked(text) : forgottenText
    texts.set(leaf, leaf.kind === 'string' ? JSON.stringify(rest) : 'null')
  }
  for (const [index, key] of keysOf(node).entries())
    if (left(key) && recogniser.tells(textOf(bytes, key), changedAt))
      // No object may have a key twice.
      texts.set(key, JSON.stringify(`${forgottenText} ${index + 1}`))
}

function recordsOf(root: JsonNode, rows: ReturnType<typeof rowsAt>): JsonNode[] {
  const data = nodesAt(root, ['data'])
  if (rows === 'data as one record') return data
  return (rows === 'data' ? data : data.flatMap(one => nodesAt(one, ['entries']))).flatMap(
    ({ items }) => items,
  )
}

const changeOf = (page: Page, record: JsonNode, { updatedAt }: Resource): number | undefined => {
  const text = updatedAt === undefined ? undefined : firstText(page, record, updatedAt.split('.'))
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const pageOf = (bytes: Buffer, recogniser: Recogniser, found?: FoundValues): Page => ({
  bytes,
  recogniser,
  found,
  texts: new Map(),
  others: new Set(),
})

function finished({ bytes, texts }: Page): Buffer {
  const fresh = [...texts].filter(([{ start, end }, text]) => bytes.toString('utf8', start, end) !== text)
  return fresh.length === 0 ? bytes : replaced(bytes, new Map(fresh))
}

export interface PageOf {
  readonly resource: Resource | undefined
  /** Whether the page is one record, read by its id. */
  readonly isById: boolean
  readonly found?: FoundValues | undefined
}

/** The same object when nobody forgotten is on the page. */
export function scrubPage(
  bytes: Buffer,
  recogniser: Recogniser,
  { resource, isById, found }: PageOf,
): Buffer {
  const root = jsonTree(bytes)
  if (!root) return scrubTexts(bytes, recogniser)
  const page = pageOf(bytes, recogniser, found)
  const records = resource ? recordsOf(root, isById ? 'data as one record' : rowsAt(resource)) : []
  for (const node of records) {
    if (!resource) continue
    const changedAt = changeOf(page, node, resource)
    visit(page, { table: resource.table, node, isSubject: false, changedAt })
    overwriteValues(page, node, changedAt)
    page.others.clear()
  }
  for (const node of records) page.others.add(node)
  overwriteDescribed(page, root, { skipped: new Set(records) })
  overwriteValues(page, root)
  return finished(page)
}

interface RecordOf {
  readonly resource: Resource | undefined
  readonly found?: FoundValues | undefined
}

function scrubNode(page: Page, node: JsonNode, { resource }: RecordOf): void {
  if (resource) visit(page, { table: resource.table, node, isSubject: false, changedAt: undefined })
  else overwriteDescribed(page, node, {})
  overwriteValues(page, node)
}

/** One record, as quarantine keeps it. */
export function scrubRecord(bytes: Buffer, recogniser: Recogniser, resource: Resource | undefined): Buffer {
  const node = jsonTree(bytes)
  if (!node) return scrubTexts(bytes, recogniser)
  const page = pageOf(bytes, recogniser)
  scrubNode(page, node, { resource })
  return finished(page)
}

interface Place<Leaf> {
  readonly leaf: Leaf
  readonly start: number
  readonly end: number
}

/** Those of the leaves of one record that change, with the JSON that each becomes. */
export function scrubLeaves<Leaf>(
  bytes: Buffer,
  recogniser: Recogniser,
  { places, ...of }: RecordOf & { readonly places: readonly Place<Leaf>[] },
): { leaf: Leaf; text: string }[] {
  const node = jsonTree(bytes)
  if (!node) return []
  const page = pageOf(bytes, recogniser, of.found)
  scrubNode(page, node, of)
  const texts = [...page.texts].sort(([one], [other]) => one.start - other.start)
  let next = 0
  return [...places]
    .sort((one, other) => one.start - other.start)
    .flatMap(({ leaf, start, end }) => {
      while ((texts[next]?.[0].start ?? start) < start) next += 1
      const moved = new Map<JsonNode, string>()
      for (let at = texts[next]; at && at[0].end <= end; next += 1, at = texts[next])
        moved.set({ ...at[0], start: at[0].start - start, end: at[0].end - start }, at[1])
      const before = bytes.subarray(start, end)
      const after = replaced(before, moved)
      return after.equals(before) ? [] : [{ leaf, text: after.toString() }]
    })
}

/** Of what is no JSON only the quoted texts can be told apart. */
function scrubTexts(bytes: Buffer, recogniser: Recogniser): Buffer {
  const text = bytes.toString('utf8')
  const scrubbed = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, one =>
    recogniser.tells(one.slice(1, -1)) ? `"${forgottenText}"` : one,
  )
  return scrubbed === text ? bytes : Buffer.from(scrubbed)
}
