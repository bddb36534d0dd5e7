/** Prepares the declared fields of a resource for fast comparison with the keys of many records. */
import { openDocuments, type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Table } from '../../contract/fields/table.ts'
import { leafForm, listForm, objectForm, type ValueForm } from './forms.ts'

export interface KnownField {
  readonly key: string
  /** The key with quotes and colon, as four-byte integers; the last may overlap the one before it. */
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
  readonly node: KnownNode
  /** Without it, a record goes to quarantine. */
  readonly isRequired: boolean
  /** The field that followed it last time: services write keys in a fixed order. */
  follower?: KnownField | undefined
  /** Number of the last object with this field. */
  lastObject: number
  /** Number of the last object with this field more than once. */
  repeatedIn: number
}

/** A `leaf` is any value that is cast by itself, or stored as a whole without declared parts. */
export interface KnownNode {
  readonly kind: ShapeNode['kind']
  readonly fields: ReadonlyMap<string, KnownField>
  readonly element?: KnownNode | undefined
  /** The form expected there; undefined allows anything. */
  readonly form?: ValueForm | undefined
  /** Undeclared fields are stored with the enclosing document. */
  readonly isOpen?: boolean
  /** Key that every record must have. */
  readonly required?: string | undefined
  /** The field that came first last time. */
  follower?: KnownField | undefined
}

const leaf = (form?: ValueForm): KnownNode => ({
  kind: 'leaf',
  fields: new Map(),
  element: undefined,
  form,
  isOpen: false,
  required: undefined,
  follower: undefined,
})

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`)

function field(key: string, node: KnownNode, isRequired = false): [string, KnownField] {
  const bytes = Buffer.from(`${JSON.stringify(key)}:`)
  const words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) =>
    bytes.readInt32LE(Math.min(index * 4, bytes.length - 4)),
  )
  return [
    key,
    { key, words, length: bytes.length, node, isRequired, follower: undefined, lastObject: 0, repeatedIn: 0 },
  ]
}

/** Keys of documents directly below `at`. */
const documentsIn = (documents: readonly string[], at: string): string[] =>
  documents
    .filter(path => path.slice(0, Math.max(0, path.lastIndexOf('.'))) === at)
    .map(path => path.slice(path.lastIndexOf('.') + 1))

interface FieldPlace {
  readonly at: string
  /** The last key; empty for a list element. */
  readonly key: string
  readonly documents: readonly string[]
  /** Inside a document that is stored as a whole. */
  readonly isOpen: boolean
}

function known(node: ShapeNode, { at, key, documents, ...place }: FieldPlace): KnownNode {
  if (node.kind === 'leaf') return leaf(leafForm(key, node.type, node.column))
  const isOpen = place.isOpen || documents.includes(at)
  if (node.kind === 'list')
    return {
      ...leaf(listForm),
      kind: 'list',
      element: known(node.element, { at: `${at}[]`, key: '', documents, isOpen }),
    }
  // List rows are stored even without their ids.
  const isRequired = (next: ShapeNode) => at === '' && next.kind === 'leaf' && next.column?.required === true
  const declared = [...node.fields].map(([name, next]) =>
    field(name, known(next, { at: below(at, name), key: name, documents, isOpen }), isRequired(next)),
  )
  const documentFields = documentsIn(documents, at).map(name => field(name, leaf()))
  // Declared parts of a document win: they have more detail.
  const fields = new Map([...documentFields, ...declared])
  const required = declared.find(([, one]) => one.isRequired)?.[0]
  return { ...leaf(objectForm), kind: 'object', fields, isOpen, required }
}

const made = new WeakMap<Table, KnownNode>()

/** Returns all fields that the table and its children read or store. */
export function knownFields(table: Table): KnownNode {
  const documents = openDocuments(table).map(({ path }) => path)
  const node = made.get(table) ?? known(shapeOf(table), { at: '', key: '', documents, isOpen: false })
  made.set(table, node)
  return node
}
