/** Parses JSON into a tree with byte offsets, so that replacing a value leaves every other byte unchanged. */

export interface JsonNode {
  readonly kind: 'object' | 'array' | 'string' | 'other'
  /** Byte offsets; the end is exclusive. */
  readonly start: number
  end: number
  /** Members of an object in their order; a key may occur twice. `place` has the offsets of the key. */
  readonly members: [key: string, value: JsonNode, place: JsonNode][]
  readonly items: JsonNode[]
}

/** One byte a character (latin1), so that offsets in the text equal offsets in the bytes. */
type ByteText = string

const tokens = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+|\s+/gs

const decoded = (text: ByteText): string => {
  const words = Buffer.from(text, 'latin1').toString('utf8')
  try {
    return JSON.parse(words) as string
  } catch (error) {
    // A control character, or an escape that JSON does not define.
    if (error instanceof SyntaxError) return words.slice(1, -1)
    throw error
  }
}

export const textOf = (bytes: Buffer, { start, end }: JsonNode): string =>
  decoded(bytes.toString('latin1', start, end))

const nodeOf = (token: ByteText, start: number): JsonNode => ({
  kind: kindOf(token),
  start,
  end: start + token.length,
  members: [],
  items: [],
})

const kindOf = (token: string): JsonNode['kind'] =>
  token === '{' ? 'object' : token === '[' ? 'array' : token.startsWith('"') ? 'string' : 'other'

/** What may come next; `first` is also an item, or the end of an empty object or list. */
type Due = 'item' | 'first' | 'colon' | 'value' | 'comma'

/** Avoids recursion, because records may nest deeper than the stack allows. Undefined for bytes that are not JSON. */
export function jsonTree(bytes: Buffer): JsonNode | undefined {
  const open: JsonNode[] = []
  let key: [string, JsonNode] | undefined
  let root: JsonNode | undefined
  let due: Due = 'value'
  let at = 0
  for (const { 0: token, index } of bytes.toString('latin1').matchAll(tokens)) {
    if (index !== at) return undefined
    at = index + token.length
    if (/^\s/.test(token)) continue
    const top = open.at(-1)
    if (token === ',' || token === ':') {
      if (due !== (token === ',' ? 'comma' : 'colon') || !top) return undefined
      due = token === ',' ? 'item' : 'value'
      continue
    }
    if (token === '}' || token === ']') {
      if ((due !== 'comma' && due !== 'first') || top?.kind !== (token === '}' ? 'object' : 'array'))
        return undefined
      top.end = at
      open.pop()
      due = 'comma'
      continue
    }
    if (top?.kind === 'object' && (due === 'item' || due === 'first')) {
      if (!token.startsWith('"')) return undefined
      key = [decoded(token), nodeOf(token, index)]
      due = 'colon'
      continue
    }
    if (due === 'comma' || due === 'colon') return undefined
    const node = nodeOf(token, index)
    if (top?.kind === 'object') top.members.push([key?.[0] ?? '', node, key?.[1] ?? node])
    else if (top) top.items.push(node)
    else root = node
    due = 'comma'
    if (node.kind !== 'object' && node.kind !== 'array') continue
    open.push(node)
    due = 'first'
  }
  return at === bytes.length && open.length === 0 ? root : undefined
}

/** Whether the text is a JSON object or list. */
export function isDocument(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Every node at this path of keys. */
export function nodesAt(node: JsonNode, path: readonly string[]): JsonNode[] {
  let found = [node]
  for (const key of path)
    found = found.flatMap(({ members }) => members.flatMap(([name, value]) => (name === key ? [value] : [])))
  return found
}

/** This node if it is a value, or all values below it. */
export function leavesOf(node: JsonNode): JsonNode[] {
  const leaves: JsonNode[] = []
  const open = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.kind === 'string' || next.kind === 'other') leaves.push(next)
    else open.push(...next.items, ...next.members.map(([, value]) => value))
  }
  return leaves
}

/** Nodes of all keys below this node. */
export function keysOf(node: JsonNode): JsonNode[] {
  const keys: JsonNode[] = []
  const open = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    keys.push(...next.members.map(([, , place]) => place))
    open.push(...next.items, ...next.members.map(([, value]) => value))
  }
  return keys
}

/** Replaces these nodes by JSON texts; no node may contain another. */
export function replaced(bytes: Buffer, texts: ReadonlyMap<JsonNode, string>): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const [{ start, end }, text] of [...texts].sort(([one], [other]) => one.start - other.start)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}
