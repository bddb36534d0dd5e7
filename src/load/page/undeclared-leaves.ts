/** Turns the leaves of undeclared fields into rows, whatever their keys and however deeply they nest. */
import { createHash } from 'node:crypto'
import { ascii, JsonBytes } from './json-bytes.ts'
import type { UndeclaredField } from './page-fields.ts'

export interface UndeclaredLeaf {
  /** Keys and positions that lead to it, such as timelogs[3].note; a key with special characters is quoted. */
  readonly path: string
  readonly text: string
  readonly type: 'text' | 'number' | 'boolean' | 'empty' | 'json'
}

/** For the report of schema drift: a path, and the JSON type of its first value. */
export interface UndeclaredPath {
  readonly path: string
  readonly type: string
}

const { quote, comma, openBrace, closeBrace, openBracket, closeBracket } = ascii

/** A field with more leaves, or with longer paths, is stored as one JSON text. */
const maxLeaves = 1000
const longestPath = 500

/** Characters that would make a path ambiguous, or that no engine stores: NUL, and half a surrogate pair. */
const needsQuotes = /^$|[.[\]"\\#\p{Cc}\p{Cs}]/u
const unstorable = /[\0\p{Cs}]/u

const step = (key: string | number): string =>
  typeof key === 'number' ? `[${key}]` : `.${needsQuotes.test(key) ? JSON.stringify(key) : key}`

/** Cuts a path without its leading dot, but never in the middle of a character. */
const cut = (path: string): string => path.slice(0, longestPath).replace(/\p{Cs}$/u, '')

/** Removes the query string of a URL, which may contain an access key. */
const withoutQuery = (text: string): string => text.replace(/^(https?:\/\/[^?#]*)[?#].*$/s, '$1')

class TooManyLeaves extends Error {}

class Leaves extends JsonBytes {
  readonly leaves: UndeclaredLeaf[] = []

  /** The path length limits the recursion depth. */
  value(from: number, path: string): number {
    if (this.leaves.length >= maxLeaves || path.length > longestPath) throw new TooManyLeaves()
    const first = this.bytes[from]
    if (first === openBrace || first === openBracket) return this.#items(from, path)
    const end = first === quote ? this.afterText(from) : this.afterPlain(from)
    const raw = this.bytes.toString('utf8', from, end)
    if (first === quote) this.#add(path, ...this.#text(raw))
    else if (raw !== 'null') this.#add(path, raw, raw === 'true' || raw === 'false' ? 'boolean' : 'number')
    return end
  }

  #items(from: number, path: string): number {
    const isObject = this.bytes[from] === openBrace
    const close = isObject ? closeBrace : closeBracket
    let at = this.afterSpace(from + 1)
    if (this.bytes[at] === close) this.#add(path, isObject ? '{}' : '[]', 'empty')
    for (let index = 0; this.bytes[at] !== close; index += 1) {
      const end = isObject ? this.afterText(at) : at
      const key = isObject ? this.textAt(at, end) : index
      at = this.afterItem(this.value(isObject ? this.afterColon(end) : at, path + step(key)), close)
    }
    return at + 1
  }

  #text(raw: string): [string, UndeclaredLeaf['type']] {
    const text = JSON.parse(raw) as string
    return unstorable.test(text) ? [raw, 'json'] : [withoutQuery(text), 'text']
  }

  #add(path: string, text: string, type: UndeclaredLeaf['type']): void {
    this.leaves.push({ path: path.slice(1), text, type })
  }
}

/** A field with too long a path keeps its key in the value. */
function asOne(bytes: Buffer, field: UndeclaredField, path: string): UndeclaredLeaf {
  if (path.length <= longestPath)
    return { path: path.slice(1), text: bytes.toString('utf8', field.start, field.end), type: 'json' }
  const hash = createHash('md5').update(path).digest('hex')
  const text = `{${bytes.toString('utf8', field.key, field.end)}}`
  return { path: `${cut(path.slice(1))}#${hash}`, text, type: 'json' }
}

function leavesOf(bytes: Buffer, field: UndeclaredField): readonly UndeclaredLeaf[] {
  const path = field.at.map(step).join('')
  const found = new Leaves(bytes)
  try {
    found.value(field.start, path)
    return found.leaves
  } catch (error) {
    if (!(error instanceof TooManyLeaves)) throw error
    return [asOne(bytes, field, path)]
  }
}

/** The path of a declared value, in the form used for leaves. */
export const pathOf = (at: UndeclaredField['at']): string => at.map(step).join('').slice(1)

/** Keys with other characters may be data, such as a person's name or address. */
const isWord = (key: string): boolean => /^[\w$-]{1,64}$/.test(key)

/** The path for the report, which is published: [] for list elements, and * for keys that may be data. */
export const reportedPath = (at: UndeclaredField['at']): string =>
  at
    .map(key => (typeof key === 'number' ? '[]' : `.${isWord(key) ? key : '*'}`))
    .join('')
    .slice(1)

/** Leaves of one record. A key repeated in one object gets a number from the second time on: note, note#2. */
export function undeclaredLeaves(bytes: Buffer, fields: readonly UndeclaredField[]): UndeclaredLeaf[] {
  const times = new Map<string, number>()
  return fields
    .flatMap(field => leavesOf(bytes, field))
    .map(leaf => {
      const time = (times.get(leaf.path) ?? 0) + 1
      times.set(leaf.path, time)
      return time === 1 ? leaf : { ...leaf, path: `${leaf.path}#${time}` }
    })
}

const kinds: Readonly<Record<number, string>> = {
  [quote]: 'string',
  [openBrace]: 'object',
  [openBracket]: 'list',
}

/** Undefined for null, which counts as absent. */
export function driftOf(bytes: Buffer, { at, start, end }: UndeclaredField): UndeclaredPath | undefined {
  const word = bytes.toString('latin1', start, Math.min(end, start + 4))
  if (word === 'null') return undefined
  const type = kinds[bytes[start] ?? comma] ?? (/^[tf]/.test(word) ? 'boolean' : 'number')
  return { path: cut(reportedPath(at)), type }
}
