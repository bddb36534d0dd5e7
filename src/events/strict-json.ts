/** Parses only unambiguous JSON: UTF-8 without a BOM, no key twice, no `__proto__`, limited depth. */

const deepest = 32

/** The value, or what is wrong with the text, for a log line. */
export type Parsed = { readonly value: unknown } | { readonly fault: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseStrictly(bytes: Uint8Array): Parsed {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
  } catch {
    // A fatal decoder throws nothing but this.
    return { fault: 'not UTF-8' }
  }
  try {
    value = JSON.parse(text)
  } catch {
    // SyntaxError; its text quotes the body.
    return { fault: 'not JSON' }
  }
  const fault = structureFault(text)
  return fault === undefined ? { value } : { fault }
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/** Checks a text that is known to be JSON. */
function structureFault(text: string): string | undefined {
  /** Keys of each open object; null for an open list. */
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  for (const [word] of text.matchAll(token)) {
    if (word === '{' || word === '[') {
      open.push(word === '{' ? new Set() : null)
      if (open.length > deepest) return `nested deeper than ${deepest}`
      expectsKey = word === '{'
    } else if (word === '}' || word === ']') {
      open.pop()
      expectsKey = false
    } else if (word === ',') {
      expectsKey = open.at(-1) !== null
    } else if (word === ':') {
      expectsKey = false
    } else if (expectsKey) {
      // Two spellings of one name are the same key.
      const key = JSON.parse(word) as string
      if (key === '__proto__') return 'with a key __proto__'
      if (open.at(-1)?.has(key)) return 'with a key that comes twice'
      open.at(-1)?.add(key)
    }
  }
  return undefined
}
