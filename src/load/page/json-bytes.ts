/** Finds positions in JSON bytes. Bytes of non-ASCII characters never equal those of JSON syntax. */

/** The bytes end or break where JSON should continue. A full parser can say where. */
export class NotJson extends Error {}

/** Destructure this: reading an import 50,000 times a page costs four times as much as a constant. */
export const ascii = {
  quote: 34,
  backslash: 92,
  comma: 44,
  colon: 58,
  openBrace: 123,
  closeBrace: 125,
  openBracket: 91,
  closeBracket: 93,
  space: 32,
} as const

const { quote, backslash, comma, colon, openBrace, closeBrace, openBracket, closeBracket, space } = ascii

interface ValueExtent {
  readonly end: number
  /** Levels of objects and lists. */
  readonly depth: number
}

/** Methods take a position, and return the one behind what they have read. */
export class JsonBytes {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  afterSpace(from: number): number {
    const { bytes } = this
    let at = from
    for (let byte = bytes[at]; byte !== undefined && byte <= space; byte = bytes[at]) at += 1
    return at
  }

  afterText(from: number): number {
    const { bytes } = this
    let at = from + 1
    const { length } = bytes
    while (at < length) {
      const byte = bytes[at]
      if (byte === quote) return at + 1
      at += byte === backslash ? 2 : 1
    }
    throw new NotJson('a text has no end')
  }

  /** Skips a number or a literal. */
  afterPlain(from: number): number {
    const { bytes } = this
    let at = from
    const { length } = bytes
    while (at < length) {
      const byte = bytes[at] as number
      if (byte === comma || byte === closeBrace || byte === closeBracket || byte <= space) break
      at += 1
    }
    if (at === from) throw new NotJson('a value is missing')
    return at
  }

  afterColon(from: number): number {
    const { bytes } = this
    const at = this.afterSpace(from)
    if (bytes[at] !== colon) throw new NotJson('a key has no value')
    return this.afterSpace(at + 1)
  }

  /** Moves from behind an item to the next item, or to the end of its object or list. */
  afterItem(from: number, close: number): number {
    const { bytes } = this
    const at = this.afterSpace(from)
    if (bytes[at] === close) return at
    if (bytes[at] !== comma) throw new NotJson('items have no comma between them')
    return this.afterSpace(at + 1)
  }

  /** Skips an object or list. Uses no recursion, as it may nest deeper than the stack allows. */
  extentAt(from: number): ValueExtent {
    const { bytes } = this
    const { length } = bytes
    let open = 0
    let depth = 0
    let at = from
    while (at < length) {
      const byte = bytes[at]
      if (byte === quote) {
        at = this.afterText(at)
        continue
      }
      at += 1
      if (byte === openBrace || byte === openBracket) {
        open += 1
        if (open > depth) depth = open
      } else if (byte === closeBrace || byte === closeBracket) {
        open -= 1
        if (open === 0) return { end: at, depth }
      }
    }
    throw new NotJson('an object or list has no end')
  }

  afterValue(from: number): number {
    const first = this.bytes[from]
    if (first === quote) return this.afterText(from)
    return first === openBrace || first === openBracket ? this.extentAt(from).end : this.afterPlain(from)
  }

  /** Decodes the JSON string in these bytes. */
  textAt(from: number, to: number): string {
    const { bytes } = this
    const text = bytes.toString('utf8', from, to)
    if (bytes[from] !== quote) throw new NotJson('a key is not a string')
    if (!text.includes('\\')) return text.slice(1, -1)
    try {
      return JSON.parse(text) as string
    } catch (error) {
      throw new NotJson('an escape is wrong', { cause: error })
    }
  }
}
