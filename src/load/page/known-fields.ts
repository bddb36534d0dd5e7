/** The declared fields of a resource, made for comparing the keys of many records with them. */
import { openDocuments, type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Table } from '../../contract/fields/table.ts'
import { type Form, leafForm, listForm, objectForm } from './forms.ts'

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

/** `leaf` stands for every value that is cast by itself, or that is kept whole and has no declared parts. */
export interface KnownNode {
  readonly kind: ShapeNode['kind']
  readonly fields: ReadonlyMap<string, KnownField>
  readonly element?: KnownNode | undefined
  /** What may stand there; anything when undefined. */
  readonly form?: Form | undefined
  /** Fields that are not declared are kept with the whole. */
  readonly isOpen?: boolean
  /** The field that came first the last time. */
  follower?: KnownField | undefined
}

const leaf = (form?: Form): KnownNode => ({
  kind: 'leaf',
  fields: new Map(),
  element: undefined,
  form,
  isOpen: false,
  follower: undefined,
})

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

interface Place {
  readonly at: string
  /** The last key; empty for an element of a list. */
  readonly key: string
  readonly documents: readonly string[]
  /** Within a document that is kept whole. */
  readonly isOpen: boolean
}

function known(node: ShapeNode, { at, key, documents, ...place }: Place): KnownNode {
  if (node.kind === 'leaf') return leaf(leafForm(key, node.type, node.column))
  const isOpen = place.isOpen || documents.includes(at)
  if (node.kind === 'list')
    return {
      ...leaf(listForm),
      kind: 'list',
      element: known(node.element, { at: `${at}[]`, key: '', documents, isOpen }),
    }
  const declared = [...node.fields].map(([name, next]) =>
    field(name, known(next, { at: below(at, name), key: name, documents, isOpen })),
  )
  const kept = documentsIn(documents, at).map(name => field(name, leaf()))
  // Declared parts of a document tell more than that it is kept.
  return { ...leaf(objectForm), kind: 'object', fields: new Map([...kept, ...declared]), isOpen }
}

const made = new WeakMap<Table, KnownNode>()

/** Everything that the table and its children read or keep whole. */
export function knownFields(table: Table): KnownNode {
  const documents = openDocuments(table).map(({ path }) => path)
  const node = made.get(table) ?? known(shapeOf(table), { at: '', key: '', documents, isOpen: false })
  made.set(table, node)
  return node
}
