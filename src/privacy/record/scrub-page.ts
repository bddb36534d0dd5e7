/** Takes forgotten persons out of a page, or out of one record: their values are overwritten, every other byte stays. */
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
  type Page,
  visit,
} from './scrub.ts'

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
