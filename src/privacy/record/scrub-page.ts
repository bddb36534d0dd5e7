/** Overwrites forgotten persons in a page or in one record; every other byte stays the same. */
import { type Resource, rowsAt } from '../../contract/fields/resource.ts'
import type { Recogniser } from '../recogniser.ts'
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
import {
  blanked,
  type FoundValues,
  firstText,
  forgottenText,
  overwriteDescribed,
  type PageScrub,
  visit,
} from './scrub.ts'

/** Scrubs a text that is itself JSON, such as the body of an event; undefined for any other text. */
function scrubbedDocument(text: string, recogniser: Recogniser): string | undefined {
  return isDocument(text) ? scrubRecord(Buffer.from(text), recogniser, undefined).toString() : undefined
}

/** A telephone number as a JSON number. */
const longNumber = /^\d{9,}$/

/** Overwrites names, addresses and numbers in all other places, including keys. */
function overwriteValues(
  { bytes, recogniser, texts, others }: PageScrub,
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
    if (!recogniser.recognises(text, changedAt)) continue
    const rest = text.length > 40 ? blanked(text) : forgottenText
    texts.set(leaf, leaf.kind === 'string' ? JSON.stringify(rest) : 'null')
  }
  for (const [index, key] of keysOf(node).entries())
    if (left(key) && recogniser.recognises(textOf(bytes, key), changedAt))
      // Numbered, because a key must be unique within its object.
      texts.set(key, JSON.stringify(`${forgottenText} ${index + 1}`))
}

function recordsOf(root: JsonNode, rows: ReturnType<typeof rowsAt>): JsonNode[] {
  const data = nodesAt(root, ['data'])
  if (rows === 'data as one record') return data
  return (rows === 'data' ? data : data.flatMap(one => nodesAt(one, ['entries']))).flatMap(
    ({ items }) => items,
  )
}

const changeOf = (page: PageScrub, record: JsonNode, { updatedAt }: Resource): number | undefined => {
  const text = updatedAt === undefined ? undefined : firstText(page, record, updatedAt.split('.'))
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const pageOf = (bytes: Buffer, recogniser: Recogniser, found?: FoundValues): PageScrub => ({
  bytes,
  recogniser,
  found,
  texts: new Map(),
  others: new Set(),
})

function withTexts({ bytes, texts }: PageScrub): Buffer {
  const fresh = [...texts].filter(([{ start, end }, text]) => bytes.toString('utf8', start, end) !== text)
  return fresh.length === 0 ? bytes : replaced(bytes, new Map(fresh))
}

export interface PageContext {
  readonly resource: Resource | undefined
  /** Whether the page is one record, read by its id. */
  readonly isById: boolean
  readonly found?: FoundValues | undefined
}

/** Returns the same buffer if no forgotten person is on the page. */
export function scrubPage(
  bytes: Buffer,
  recogniser: Recogniser,
  { resource, isById, found }: PageContext,
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
  return withTexts(page)
}

interface RecordContext {
  readonly resource: Resource | undefined
  readonly found?: FoundValues | undefined
}

function scrubNode(page: PageScrub, node: JsonNode, { resource }: RecordContext): void {
  if (resource) visit(page, { table: resource.table, node, isSubject: false, changedAt: undefined })
  else overwriteDescribed(page, node, {})
  overwriteValues(page, node)
}

/** Scrubs one record, such as one in quarantine. */
export function scrubRecord(bytes: Buffer, recogniser: Recogniser, resource: Resource | undefined): Buffer {
  const node = jsonTree(bytes)
  if (!node) return scrubTexts(bytes, recogniser)
  const page = pageOf(bytes, recogniser)
  scrubNode(page, node, { resource })
  return withTexts(page)
}

interface LeafPlace<Leaf> {
  readonly leaf: Leaf
  readonly start: number
  readonly end: number
}

/** Returns the leaves of one record that change, with their new JSON. */
export function scrubLeaves<Leaf>(
  bytes: Buffer,
  recogniser: Recogniser,
  { places, ...of }: RecordContext & { readonly places: readonly LeafPlace<Leaf>[] },
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

/** Bytes that are not JSON: scrubs each quoted text. */
function scrubTexts(bytes: Buffer, recogniser: Recogniser): Buffer {
  const text = bytes.toString('utf8')
  const scrubbed = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, one =>
    recogniser.recognises(one.slice(1, -1)) ? `"${forgottenText}"` : one,
  )
  return scrubbed === text ? bytes : Buffer.from(scrubbed)
}
