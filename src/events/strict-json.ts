/** JSON that has one meaning only: UTF-8 without a mark, no key twice, no `__proto__`, not deeper than anybody needs. */

const deepest = 32

/** What is wrong with the text, for a log line; or the value. */
export type Parsed = { readonly value: unknown } | { readonly fault: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseStrictly(bytes: Uint8Array): Parsed {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
  } catch {
    return { fault: 'not UTF-8' }
  }
  try {
    value = JSON.parse(text)
  } catch {
    return { fault: 'not JSON' }
  }
  const fault = structureFault(text)
  return fault === undefined ? { value } : { fault }
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/** Of a text that is JSON. */
function structureFault(text: string): string | undefined {
  /** Keys of the objects that are open; null for a list. */
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
