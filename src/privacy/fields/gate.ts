/** Removes blocked fields from JSON and hashes others, before anything of it is stored; every other byte stays the same. */
import { findResource } from '../../contract/catalogue.ts'
import type { Treatment } from '../../contract/derived/field-rules.ts'
import { rowsAt } from '../../contract/fields/resource.ts'
import type { Scrub } from '../../landing/landing.ts'
import { type JsonNode, jsonTree, replaced, textOf } from '../record/json-tree.ts'
import type { FieldPolicy } from './policy.ts'

/** Takes the place of what is not JSON: the page is found to be unreadable and fetched again. */
const unreadable = Buffer.from('{"success":true,"data":[')

/** Deeper values are removed: their paths would be too long to compare. */
const deepest = 500

interface Place {
  readonly node: JsonNode
  readonly path: string
  readonly depth: number
}

/** The treatment of a path, and whether an object at it has to be kept because of a field in it. */
interface Judge {
  at(path: string): Treatment | undefined
  holdsNeeded(path: string): boolean
}

const ofResource = (policy: FieldPolicy, resource: string): Judge => ({
  at: path => policy.at(resource, path),
  holdsNeeded: path => policy.holdsNeeded(resource, path),
})

const ofAnything = (policy: FieldPolicy): Judge => ({
  at: path => policy.anywhere(path),
  holdsNeeded: () => false,
})

class Treating {
  readonly #bytes: Buffer
  readonly #policy: FieldPolicy
  readonly #texts = new Map<JsonNode, string>()

  constructor(bytes: Buffer, policy: FieldPolicy) {
    this.#bytes = bytes
    this.#policy = policy
  }

  /** The same buffer if nothing had to change. */
  get result(): Buffer {
    return this.#texts.size === 0 ? this.#bytes : replaced(this.#bytes, this.#texts)
  }

  remove(node: JsonNode): void {
    if (this.#text(node) !== 'null') this.#texts.set(node, 'null')
  }

  below(root: JsonNode, judge: Judge, path = ''): void {
    const open: Place[] = [{ node: root, path, depth: 0 }]
    for (let next = open.pop(); next; next = open.pop()) this.#one(next, judge, open)
  }

  #one({ node, path, depth }: Place, judge: Judge, open: Place[]): void {
    const treatment = path === '' ? undefined : judge.at(path)
    const isValue = node.kind === 'string' || node.kind === 'other'
    const isBlocked = treatment === 'block' && (isValue || !judge.holdsNeeded(path))
    if (depth > deepest || isBlocked) this.remove(node)
    else if (isValue && treatment) this.#hash(node)
    else this.#open({ node, path, depth }, open)
  }

  #open({ node, path, depth }: Place, open: Place[]): void {
    for (const item of node.items) open.push({ node: item, path, depth: depth + 1 })
    for (const [key, value] of node.members)
      open.push({ node: value, path: path === '' ? key : `${path}.${key}`, depth: depth + 1 })
  }

  /** Words that are no text, such as true, are removed. */
  #hash(node: JsonNode): void {
    const text = node.kind === 'string' ? textOf(this.#bytes, node) : this.#text(node)
    const isNumber = node.kind === 'other' && /^-?\d/.test(text)
    const hash = this.#policy.hash(text)
    if (node.kind === 'other' && !isNumber) this.remove(node)
    else if (hash !== text) this.#texts.set(node, JSON.stringify(hash))
  }

  #text({ start, end }: JsonNode): string {
    return this.#bytes.toString('latin1', start, end)
  }
}

/** Keys from the page to its records; [] for a list. */
const rowsPaths: Readonly<Record<ReturnType<typeof rowsAt>, readonly string[]>> = {
  data: ['data', '[]'],
  'data.entries': ['data', 'entries', '[]'],
  'data as one record': ['data'],
}

/** Records follow the rules of their resource, anything else of the page those of all resources. */
export function gateOf(policy: FieldPolicy): Scrub {
  if (policy.isEmpty) return bytes => bytes
  return (bytes, { resource, isById }) => {
    const root = jsonTree(bytes)
    if (root?.kind !== 'object') return bytes.equals(unreadable) ? bytes : unreadable
    const treating = new Treating(bytes, policy)
    const ofRecord = ofResource(policy, resource)
    const treat = (key: string, value: JsonNode, rows: readonly string[]): void => {
      const [first, ...below] = rows
      if (key === first && below.length === 0 && value.kind === 'object') treating.below(value, ofRecord)
      else if (key === first && below[0] === '[]' && value.kind === 'array')
        for (const item of value.items)
          if (item.kind === 'object') treating.below(item, ofRecord)
          else treating.remove(item)
      else if (key === first && below.length > 1 && value.kind === 'object')
        for (const [name, inner] of value.members) treat(name, inner, below)
      else treating.below(value, ofAnything(policy), key)
    }
    const one = findResource(resource)
    const rows = rowsPaths[isById || !one ? 'data as one record' : rowsAt(one)]
    for (const [key, value] of root.members) treat(key, value, rows)
    return treating.result
  }
}

/** The gate of one JSON value at this path of a record, such as one in quarantine. Undefined for what is not JSON. */
export function gatedValue(
  policy: FieldPolicy,
  text: string,
  { resource, path = '' }: { readonly resource?: string; readonly path?: string },
): string | undefined {
  const bytes = Buffer.from(text)
  const root = jsonTree(bytes)
  if (!root) return undefined
  const treating = new Treating(bytes, policy)
  treating.below(root, resource === undefined ? ofAnything(policy) : ofResource(policy, resource), path)
  return treating.result.toString()
}

/** The gate of the body of an event, whose structure is unknown. */
export const gatedBody = (policy: FieldPolicy, text: string): string => gatedValue(policy, text, {}) ?? '{}'
