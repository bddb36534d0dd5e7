/** Reads arrays and rows as PostgreSQL writes them. */

type Parse = (text: string) => unknown

/** The quoted text that begins at `at`, and the place behind it. A quote inside is doubled or behind a backslash. */
function quoted(text: string, at: number): { readonly value: string; readonly next: number } {
  let value = ''
  let place = at + 1
  for (; place < text.length; place += 1) {
    if (text[place] === '\\') place += 1
    else if (text[place] === '"') {
      if (text[place + 1] !== '"') break
      place += 1
    }
    value += text[place]
  }
  return { value, next: place + 1 }
}

function bare(text: string, at: number, ends: string): { readonly value: string; readonly next: number } {
  let next = at
  while (next < text.length && !ends.includes(text[next] ?? '')) next += 1
  return { value: text.slice(at, next), next }
}

/** `{1,NULL,"a b"}`, with lower bounds before it where they are not 1, and arrays in arrays. */
export function arrayValue(text: string, parse: Parse, delimiter = ','): unknown[] {
  const all: unknown[] = []
  const open: unknown[][] = [all]
  let place = text.indexOf('{') + 1
  while (open.length > 0 && place < text.length) {
    const first = text[place]
    const inside = open.at(-1) ?? all
    if (first === '{') {
      const inner: unknown[] = []
      inside.push(inner)
      open.push(inner)
      place += 1
    } else if (first === '}') {
      open.pop()
      place += 1
    } else if (first === delimiter) place += 1
    else {
      const isQuoted = first === '"'
      const { value, next } = isQuoted ? quoted(text, place) : bare(text, place, `${delimiter}}`)
      inside.push(!isQuoted && value === 'NULL' ? null : parse(value))
      place = next
    }
  }
  return all
}

export interface Field {
  readonly name: string
  readonly parse: Parse
}

/** `(1,,"a b")`: a value that is not written is null. */
export function rowValue(text: string, fields: readonly Field[]): Record<string, unknown> {
  let place = 1
  const values = fields.map(({ name, parse }) => {
    const first = text[place]
    const isQuoted = first === '"'
    const { value, next } = isQuoted ? quoted(text, place) : bare(text, place, ',)')
    place = next + 1
    return [name, !isQuoted && value === '' ? null : parse(value)] as const
  })
  return Object.fromEntries(values)
}
