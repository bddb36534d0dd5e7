/** JSON as a tree whose nodes know their place in the bytes, so that a value is replaced and every other byte stays. */

export interface JsonNode {
  readonly kind: 'object' | 'array' | 'string' | 'other'
  /** Place in the bytes; the end is exclusive. */
  readonly start: number
  end: number
  /** Of an object, in their order; a key may come twice. `place` is where the key stands. */
  readonly members: [key: string, value: JsonNode, place: JsonNode][]
  readonly items: JsonNode[]
}

/** One byte a character, so that places in the text are places in the bytes. */
type Text = string

const tokens = /[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+|\s+/gs

const decoded = (text: Text): string => {
  const words = Buffer.from(text, 'latin1').toString('utf8')
  try {
    return JSON.parse(words) as string
  } catch (error) {
    // A control character or an escape that JSON does not know.
    if (error instanceof SyntaxError) return words.slice(1, -1)
    throw error
  }
}

export const textOf = (bytes: Buffer, { start, end }: JsonNode): string =>
  decoded(bytes.toString('latin1', start, end))

const nodeOf = (token: Text, start: number): JsonNode => ({
  kind: kindOf(token),
  start,
  end: start + token.length,
  members: [],
  items: [],
})

const kindOf = (token: string): JsonNode['kind'] =>
  token === '{' ? 'object' : token === '[' ? 'array' : token.startsWith('"') ? 'string' : 'other'

/** Without recursion, as records may be nested deeper than a stack. Undefined for bytes that are no JSON. */
export function jsonTree(bytes: Buffer): JsonNode | undefined {
  const open: JsonNode[] = []
  let key: [string, JsonNode] | undefined
  let root: JsonNode | undefined
  let at = 0
  for (const { 0: token, index } of bytes.toString('latin1').matchAll(tokens)) {
    if (index !== at) return undefined
    at = index + token.length
    if (/^\s/.test(token) || token === ',') continue
    const top = open.at(-1)
    if (token === ':') continue
    if (token === '}' || token === ']') {
      const closed = open.pop()
      if (!closed) return undefined
      closed.end = at
      continue
    }
    if (top?.kind === 'object' && key === undefined && token.startsWith('"')) {
      key = [decoded(token), nodeOf(token, index)]
      continue
    }
    const node = nodeOf(token, index)
    if (top?.kind === 'object') top.members.push([key?.[0] ?? '', node, key?.[1] ?? node])
    else if (top) top.items.push(node)
    else if (root) return undefined
    else root = node
    key = undefined
    if (node.kind === 'object' || node.kind === 'array') open.push(node)
  }
  return at === bytes.length && open.length === 0 ? root : undefined
}

/** An object or a list, and nothing else. */
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

/** This node, or all below it that hold a value. */
export function leavesOf(node: JsonNode): JsonNode[] {
  const leaves: JsonNode[] = []
  const open = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.kind === 'string' || next.kind === 'other') leaves.push(next)
    else open.push(...next.items, ...next.members.map(([, value]) => value))
  }
  return leaves
}

/** Places of all keys in this node. */
export function keysOf(node: JsonNode): JsonNode[] {
  const keys: JsonNode[] = []
  const open = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    keys.push(...next.members.map(([, , place]) => place))
    open.push(...next.items, ...next.members.map(([, value]) => value))
  }
  return keys
}

/** The bytes with these nodes replaced by JSON texts; nodes do not contain each other. */
export function replaced(bytes: Buffer, texts: ReadonlyMap<JsonNode, string>): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const [{ start, end }, text] of [...texts].sort(([one], [other]) => one.start - other.start)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}
