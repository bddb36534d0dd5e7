/**
 * Searches the bytes of a landed page once: where its records are, how deeply they nest, and which fields are
 * undeclared.
 */

import type { RowsAt } from '../read/pages.ts'
import { notPlain, objectForm, type ValueForm } from './forms.ts'
import { ascii, JsonBytes } from './json-bytes.ts'
import type { KnownField, KnownNode } from './known-fields.ts'

const { comma, openBrace, closeBrace, openBracket, closeBracket, quote } = ascii

/** An undeclared field: the positions of its key, and of its value up to `end`. */
export interface UndeclaredField {
  readonly key: number
  readonly start: number
  readonly end: number
  /** Path from the record: keys, and list positions from 0. */
  readonly at: readonly (string | number)[]
}

/** A declared value that is not in its plain form. */
export interface UnusualValue extends Omit<UndeclaredField, 'key'> {
  readonly form: ValueForm
}

/** Byte positions. */
export interface Slice {
  readonly start: number
  readonly end: number
}

export interface RecordSlice extends Slice {
  /** Levels of objects and lists, including the record. */
  readonly depth: number
  readonly undeclared: readonly UndeclaredField[]
  readonly unusual: readonly UnusualValue[]
  /** Declared keys that occur several times in one object. */
  readonly repeated: readonly RepeatedKey[]
  /** A required key that the record does not have. */
  readonly missing?: string | undefined
}

export interface RepeatedKey {
  /** Where the object begins. */
  readonly object: number
  readonly key: string
}

/** Compares four bytes at a time: keys make up more than half of most pages. */
function isAt(view: DataView, from: number, { words, length }: KnownField): boolean {
  if (from + length > view.byteLength) return false
  const last = words.length - 1
  for (let index = 0; index < last; index += 1)
    if (view.getInt32(from + index * 4, true) !== words[index]) return false
  return view.getInt32(from + length - 4, true) === words[last]
}

const none: readonly never[] = []
const letterN = 110
const letterU = 117

/** Counts objects on all pages so far: each declared field remembers the last one that had it. */
let objects = 0

class FieldSearch extends JsonBytes {
  readonly #view: DataView
  readonly #max: number
  #depth = 0
  #deepest = 0
  #at: (string | number)[] = []
  #found: UndeclaredField[] = []
  #unusual: UnusualValue[] = []
  #repeated: RepeatedKey[] = []
  #hasRequired = false

  constructor(bytes: Buffer, max: number) {
    super(bytes)
    this.#max = max
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Descends the envelope to the records, and returns where the value ends. */
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
    this.#hasRequired = false
    const isObject = this.bytes[from] === openBrace
    const end = isObject ? this.#object(from, node) : this.#value(from)
    if (!isObject) this.#unusual.push({ start: from, end, at: [], form: objectForm })
    const undeclared = this.#found.length > 0 ? this.#found.splice(0) : none
    const unusual = this.#unusual.length > 0 ? this.#unusual.splice(0) : none
    const repeated = this.#repeated.length > 0 ? this.#repeated.splice(0) : none
    const missing = isObject && !this.#hasRequired ? node.required : undefined
    return { start: from, end, depth: this.#deepest, undeclared, unusual, repeated, missing }
  }

  #node(from: number, node: KnownNode): number {
    const first = this.bytes[from]
    if (node.kind === 'object' && first === openBrace) return this.#object(from, node)
    if (node.kind === 'list' && first === openBracket) return this.#list(from, node)
    return this.#leaf(from, node.form)
  }

  /** A value of a different kind than declared is not plain either. */
  #leaf(from: number, form: ValueForm | undefined, key?: string): number {
    if (form === undefined || this.#isNull(from)) return this.#value(from)
    const plain = form.afterPlain(this.bytes, from)
    if (plain !== notPlain) return plain
    const end = this.#value(from)
    if (this.#unusual.length <= this.#max)
      this.#unusual.push({
        start: from,
        end,
        at: key === undefined ? [...this.#at] : [...this.#at, key],
        form,
      })
    return end
  }

  /** Compares each key with the one that followed last time, before looking it up. */
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
        this.#met(guess, object, from)
        at = this.#field(this.afterSpace(at + guess.length), guess)
        before = guess
      } else {
        const end = this.afterText(at)
        const key = this.textAt(at, end)
        const field = node.fields.get(key)
        const value = this.afterColon(end)
        if (field) this.#met(field, object, from)
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

  /** Records a repeated key once for each object, however often it occurs. */
  #met(field: KnownField, object: number, from: number): void {
    if (field.lastObject === object && field.repeatedIn !== object && this.#repeated.length <= this.#max) {
      field.repeatedIn = object
      this.#repeated.push({ object: from, key: field.key })
    }
    field.lastObject = object
  }

  /** DuckDB also reads `nan`, which is not JSON. */
  #isNull(from: number): boolean {
    return this.bytes[from] === letterN && this.bytes[from + 1] === letterU
  }

  #field(from: number, { key, node, isRequired }: KnownField): number {
    if (isRequired) this.#hasRequired = !this.#isNull(from)
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
    if (this.#found.length <= this.#max) this.#found.push({ key, start, end, at: [...this.#at, name] })
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
    const { end, depth } = this.extentAt(from)
    this.#deepest = Math.max(this.#deepest, this.#depth + depth)
    return end
  }
}

/** An object member, up to the next one. */
interface Repetition extends Slice {
  readonly json: string
}

function repetitionsOf(bytes: Buffer, { object, key }: RepeatedKey): Repetition[] {
  const json = new JsonBytes(bytes)
  const found: Repetition[] = []
  let start = json.afterSpace(object + 1)
  while (bytes[start] !== closeBrace) {
    const behindKey = json.afterText(start)
    const value = json.afterColon(behindKey)
    const behind = json.afterValue(value)
    const end = json.afterItem(behind, closeBrace)
    if (json.textAt(start, behindKey) === key)
      found.push({ start, end, json: bytes.toString('utf8', value, behind) })
    start = end
  }
  return found
}

/** Finds a declared key with different values in one object: which one is right is unknown. */
export const contradiction = (bytes: Buffer, { repeated }: RecordSlice): string | undefined =>
  repeated.find(one => new Set(repetitionsOf(bytes, one).map(({ json }) => json)).size > 1)?.key

/** Members that occur again later in their object. */
export const repetitions = (bytes: Buffer, { repeated }: RecordSlice): Slice[] =>
  repeated.flatMap(one => repetitionsOf(bytes, one).slice(0, -1))

const pathTo: Readonly<Record<RowsAt, readonly string[]>> = {
  data: ['data', '[]'],
  'data.entries': ['data', 'entries', '[]'],
  'data as one record': ['data'],
}

export interface PageSearch {
  readonly rows: RowsAt
  readonly known: KnownNode
  /**
   * Finds at most this many undeclared fields in a record, plus one that shows there are more; the same for unusual
   * values.
   */
  readonly max: number
}

/**
 * Yields the records of a page in order, one at a time: a page whose records have thousands of undeclared fields each
 * would fill the memory. Throws NotJson.
 */
export function* recordsOn(bytes: Buffer, { rows, known, max }: PageSearch): Generator<RecordSlice> {
  const search = new FieldSearch(bytes, max)
  yield* search.envelope(search.afterSpace(0), pathTo[rows], known)
}
