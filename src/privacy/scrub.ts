/** Takes forgotten persons out of a page: their personal fields are overwritten, every other byte stays. */
import type { Path } from '../contract/fields/column.ts'
import { type Resource, rowsAt } from '../contract/fields/resource.ts'
import type { Child, Table } from '../contract/fields/table.ts'
import { type JsonNode, jsonTree, leavesOf, nodesAt, replaced, textOf } from './json-tree.ts'
import { contactFields, declaredPaths, personalFields, personColumns } from './personal-fields.ts'
import type { Recogniser } from './recogniser.ts'

/** In place of a name, an address or a number. */
export const forgottenText = 'forgotten'

/** In place of words: star keeps their length. */
export const blanked = (words: string): string => 'x'.repeat([...words].length)

interface Page {
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
    for (const one of described) overwrite(page, one)
    isSubject ||= ofRow
  }
  return isSubject
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
  for (const child of table.children)
    for (const element of elements(node, child))
      visit(page, { table: child.table, node: element, isSubject, changedAt })
}

/** Names, addresses and numbers wherever else they stand. */
function overwriteValues(
  { bytes, recogniser, texts, others }: Page,
  node: JsonNode,
  changedAt?: number,
): void {
  const exempt = new Set([...others].flatMap(leavesOf))
  for (const leaf of leavesOf(node)) {
    if (leaf.kind !== 'string' || texts.has(leaf) || exempt.has(leaf)) continue
    const text = textOf(bytes, leaf)
    if (!recogniser.tells(text, changedAt)) continue
    texts.set(leaf, JSON.stringify(text.length > 40 ? blanked(text) : forgottenText))
  }
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

const pageOf = (bytes: Buffer, recogniser: Recogniser): Page => ({
  bytes,
  recogniser,
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
}

/** The same object when nobody forgotten is on the page. */
export function scrubPage(bytes: Buffer, recogniser: Recogniser, { resource, isById }: PageOf): Buffer {
  const root = jsonTree(bytes)
  if (!root) return scrubTexts(bytes, recogniser)
  const page = pageOf(bytes, recogniser)
  const records = resource ? recordsOf(root, isById ? 'data as one record' : rowsAt(resource)) : []
  for (const node of records) {
    if (!resource) continue
    const changedAt = changeOf(page, node, resource)
    visit(page, { table: resource.table, node, isSubject: false, changedAt })
    overwriteValues(page, node, changedAt)
    page.others.add(node)
  }
  overwriteValues(page, root)
  return finished(page)
}

/** One record, as quarantine keeps it. */
export function scrubRecord(bytes: Buffer, recogniser: Recogniser, resource: Resource | undefined): Buffer {
  const node = jsonTree(bytes)
  if (!node) return scrubTexts(bytes, recogniser)
  const page = pageOf(bytes, recogniser)
  if (resource) visit(page, { table: resource.table, node, isSubject: false, changedAt: undefined })
  overwriteValues(page, node)
  return finished(page)
}

/** Of what is no JSON only the quoted texts can be told apart. */
function scrubTexts(bytes: Buffer, recogniser: Recogniser): Buffer {
  const text = bytes.toString('utf8')
  const scrubbed = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, one =>
    recogniser.tells(one.slice(1, -1)) ? `"${forgottenText}"` : one,
  )
  return scrubbed === text ? bytes : Buffer.from(scrubbed)
}
