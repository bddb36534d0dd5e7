/** The declared fields of a resource, made for comparing the keys of many records with them. */
import { openDocuments, type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Table } from '../../contract/fields/table.ts'

export interface KnownField {
  readonly key: string
  /** The key with its quotes and a colon, as numbers of four bytes; the last one overlaps the one before it. */
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
  readonly node: KnownNode
  /** The field that came next the last time: services write keys in one order. */
  follower?: KnownField | undefined
  /** The number of the last object that had it. */
  lastObject: number
}

/** `leaf` stands for every value that is cast by itself or kept whole. */
export interface KnownNode {
  readonly kind: ShapeNode['kind']
  readonly fields: ReadonlyMap<string, KnownField>
  readonly element?: KnownNode | undefined
  /** The field that came first the last time. */
  follower?: KnownField | undefined
}

const leaf: KnownNode = { kind: 'leaf', fields: new Map(), element: undefined, follower: undefined }

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`)

function field(key: string, node: KnownNode): [string, KnownField] {
  const bytes = Buffer.from(`${JSON.stringify(key)}:`)
  const words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) =>
    bytes.readInt32LE(Math.min(index * 4, bytes.length - 4)),
  )
  return [key, { key, words, length: bytes.length, node, follower: undefined, lastObject: 0 }]
}

/** Keys that a document adds below `at`: those without a node of their own. */
const documentsIn = (documents: readonly string[], at: string): string[] =>
  documents
    .filter(path => path.slice(0, Math.max(0, path.lastIndexOf('.'))) === at)
    .map(path => path.slice(path.lastIndexOf('.') + 1))

function known(node: ShapeNode, at: string, documents: readonly string[]): KnownNode {
  if (node.kind === 'leaf' || documents.includes(at)) return leaf
  if (node.kind === 'list')
    return {
      kind: 'list',
      fields: new Map(),
      element: known(node.element, `${at}[]`, documents),
      follower: undefined,
    }
  const declared = [...node.fields].map(([key, next]) => field(key, known(next, below(at, key), documents)))
  const kept = documentsIn(documents, at).map(key => field(key, leaf))
  return { kind: 'object', fields: new Map([...declared, ...kept]), element: undefined, follower: undefined }
}

const made = new WeakMap<Table, KnownNode>()

/** Everything that the table and its children read or keep whole. */
export function knownFields(table: Table): KnownNode {
  const documents = openDocuments(table).map(({ path }) => path)
  const node = made.get(table) ?? known(shapeOf(table), '', documents)
  made.set(table, node)
  return node
}
