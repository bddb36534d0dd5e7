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

/** A key ends with its colon. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g

/** Checks a text that is known to be JSON. */
function structureFault(text: string): string | undefined {
  /** Keys of each open object; none for an open list. */
  const open: Set<string>[] = []
  for (const [word, name = '', colon] of text.matchAll(token)) {
    if (word === '{' || word === '[') {
      open.push(new Set())
      if (open.length > deepest) return `nested deeper than ${deepest}`
    } else if (word === '}' || word === ']') {
      open.pop()
    } else if (colon !== undefined) {
      // Two spellings of one name are the same key.
      const key = JSON.parse(name) as string
      if (key === '__proto__') return 'with a key __proto__'
      const keys = open.at(-1) as Set<string>
      if (keys.has(key)) return 'with a key that comes twice'
      keys.add(key)
    }
  }
  return undefined
}
