/** Searches the bytes of a landed page once: where its records lie, how deep they nest, and their undeclared fields. */

import type { RowsAt } from '../read/pages.ts'
import { type Form, notPlain } from './forms.ts'
import { ascii, JsonBytes } from './json-bytes.ts'
import type { KnownField, KnownNode } from './known-fields.ts'

const { comma, openBrace, closeBrace, openBracket, closeBracket, quote } = ascii

/** A field that nobody declared: the bytes of its key, and of its value up to `end`. */
export interface UndeclaredField {
  readonly key: number
  readonly start: number
  readonly end: number
  /** Keys, and positions in lists from 0, that lead to it from the record. */
  readonly at: readonly (string | number)[]
}

/** A declared value that is not written as plainly as its form is. */
export interface UnusualValue extends Omit<UndeclaredField, 'key'> {
  readonly form: Form
}

export interface RecordSlice {
  readonly start: number
  readonly end: number
  /** Levels of objects and lists, the record included. */
  readonly depth: number
  readonly undeclared: readonly UndeclaredField[]
  readonly unusual: readonly UnusualValue[]
  /** Declared keys that come several times in one object, which begins at `object`. */
  readonly repeated: readonly RepeatedKey[]
}

export interface RepeatedKey {
  readonly object: number
  readonly key: string
}

/** Four bytes at a time: keys are more than half of most pages. */
function isAt(view: DataView, from: number, { words, length }: KnownField): boolean {
  if (from + length > view.byteLength) return false
  const last = words.length - 1
  for (let index = 0; index < last; index += 1)
    if (view.getInt32(from + index * 4, true) !== words[index]) return false
  return view.getInt32(from + length - 4, true) === words[last]
}

const none: readonly never[] = []
const letterN = 110

/** Objects of all pages so far: declared fields remember the last that had them. */
let objects = 0

class FieldSearch extends JsonBytes {
  readonly #view: DataView
  readonly #most: number
  #depth = 0
  #deepest = 0
  #at: (string | number)[] = []
  #found: UndeclaredField[] = []
  #unusual: UnusualValue[] = []
  #repeated: RepeatedKey[] = []

  constructor(bytes: Buffer, most: number) {
    super(bytes)
    this.#most = most
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Down the members of the envelope to the records. Returns where the value ends. */
  *envelope(from: number, path: readonly string[], node: KnownNode): Generator<RecordSlice, number> {
    const { bytes } = this
    const [key, ...rest] = path
    if (key === undefined) {
      const record = this.#record(from, node)
      yield record
      return record.end
    }
    const isList = key === '[]'
    if (bytes[from] !== (isList ? openBracket : openBrace)) return this.#value(from)
    const close = isList ? closeBracket : closeBrace
    let at = this.afterSpace(from + 1)
    while (bytes[at] !== close) {
      const end = isList ? at : this.afterText(at)
      const value = isList ? at : this.afterColon(end)
      const isOnPath = isList || this.textAt(at, end) === key
      at = this.afterItem(isOnPath ? yield* this.envelope(value, rest, node) : this.#value(value), close)
    }
    return at + 1
  }

  #record(from: number, node: KnownNode): RecordSlice {
    this.#depth = 0
    this.#deepest = 0
    this.#at = []
    const end = this.#node(from, node)
    const undeclared = this.#found.length > 0 ? this.#found.splice(0) : none
    const unusual = this.#unusual.length > 0 ? this.#unusual.splice(0) : none
    const repeated = this.#repeated.length > 0 ? this.#repeated.splice(0) : none
    return { start: from, end, depth: this.#deepest, undeclared, unusual, repeated }
  }

  #node(from: number, node: KnownNode): number {
    const first = this.bytes[from]
    if (node.kind === 'object' && first === openBrace) return this.#object(from, node)
    if (node.kind === 'list' && first === openBracket) return this.#list(from, node)
    return this.#leaf(from, node.form)
  }

  /** A value of another kind than the declared one is not plain either. */
  #leaf(from: number, form: Form | undefined, key?: string): number {
    // JSON has no other word that begins like null.
    if (form === undefined || this.bytes[from] === letterN) return this.#value(from)
    const plain = form.afterPlain(this.bytes, from)
    if (plain !== notPlain) return plain
    const end = this.#value(from)
    if (this.#unusual.length <= this.#most)
      this.#unusual.push({
        start: from,
        end,
        at: key === undefined ? [...this.#at] : [...this.#at, key],
        form,
      })
    return end
  }

  /** Compares each key with the one that came next the last time, before it looks the key up. */
  #object(from: number, node: KnownNode): number {
    const { bytes } = this
    const view = this.#view
    this.#enter()
    objects += 1
    const object = objects
    let before: KnownField | KnownNode = node
    let at = this.afterSpace(from + 1)
    while (bytes[at] !== closeBrace) {
      const guess: KnownField | undefined = before.follower
      if (guess !== undefined && isAt(view, at, guess)) {
        if (guess.lastObject === object) this.#repeated.push({ object: from, key: guess.key })
        guess.lastObject = object
        at = this.#field(this.afterSpace(at + guess.length), guess)
        before = guess
      } else {
        const end = this.afterText(at)
        const key = this.textAt(at, end)
        const field = node.fields.get(key)
        const value = this.afterColon(end)
        if (field?.lastObject === object) this.#repeated.push({ object: from, key })
        if (field) field.lastObject = object
        if (field) at = this.#field(value, field)
        else at = node.isOpen ? this.#value(value) : this.#undeclared(at, value, key)
        before.follower = field ?? guess
        before = field ?? before
      }
      at = bytes[at] === comma && bytes[at + 1] === quote ? at + 1 : this.afterItem(at, closeBrace)
    }
    this.#depth -= 1
    return at + 1
  }

  #field(from: number, { key, node }: KnownField): number {
    if (node.kind === 'leaf') return this.#leaf(from, node.form, key)
    this.#at.push(key)
    const at = this.#node(from, node)
    this.#at.pop()
    return at
  }

  #list(from: number, { element }: KnownNode): number {
    const { bytes } = this
    if (element === undefined || (element.kind === 'leaf' && element.form === undefined))
      return this.#value(from)
    this.#enter()
    let index = 0
    let at = this.afterSpace(from + 1)
    while (bytes[at] !== closeBracket) {
      this.#at.push(index)
      at = this.afterItem(this.#node(at, element), closeBracket)
      this.#at.pop()
      index += 1
    }
    this.#depth -= 1
    return at + 1
  }

  #undeclared(key: number, start: number, name: string): number {
    const end = this.#value(start)
    if (this.#found.length <= this.#most) this.#found.push({ key, start, end, at: [...this.#at, name] })
    return end
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > this.#deepest) this.#deepest = this.#depth
  }

  #value(from: number): number {
    const first = this.bytes[from]
    if (first === quote) return this.afterText(from)
    if (first !== openBrace && first !== openBracket) return this.afterPlain(from)
    const { end, depth } = this.wholeAt(from)
    this.#deepest = Math.max(this.#deepest, this.#depth + depth)
    return end
  }
}

/** The values of a key of the object at a position, as JSON. */
function valuesOf(bytes: Buffer, { object, key }: RepeatedKey): Set<string> {
  const json = new JsonBytes(bytes)
  const values = new Set<string>()
  let at = json.afterSpace(object + 1)
  while (bytes[at] !== closeBrace) {
    const end = json.afterText(at)
    const start = json.afterColon(end)
    const after = json.afterValue(start)
    if (json.textAt(at, end) === key) values.add(bytes.toString('utf8', start, after))
    at = json.afterItem(after, closeBrace)
  }
  return values
}

/** A declared key with several values in one object: which of them holds nobody can tell. */
export const contradiction = (bytes: Buffer, { repeated }: RecordSlice): string | undefined =>
  repeated.find(one => valuesOf(bytes, one).size > 1)?.key

const pathTo: Readonly<Record<RowsAt, readonly string[]>> = {
  data: ['data', '[]'],
  'data.entries': ['data', 'entries', '[]'],
  'data as one record': ['data'],
}

export interface Searched {
  readonly rows: RowsAt
  readonly known: KnownNode
  /** So many undeclared fields of a record are found, and one more to show that there are others; unusual likewise. */
  readonly most: number
}

/**
 * The records of a page in their order, one at a time: those of a page with thousands of undeclared fields each would fill the
 * memory together. Throws NotJson.
 */
export function* recordsOn(bytes: Buffer, { rows, known, most }: Searched): Generator<RecordSlice> {
  const search = new FieldSearch(bytes, most)
  yield* search.envelope(search.afterSpace(0), pathTo[rows], known)
}
