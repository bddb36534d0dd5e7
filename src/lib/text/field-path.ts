/** Writes the path of a value in a JSON document for messages. */

/** Max characters of a key: a longer one is not a field name. */
const longestStep = 100

/** Returns a key, or the beginning of a long one. */
export const shortKey = (key: string): string =>
  key.length <= longestStep ? key : `${key.slice(0, longestStep)}…`

/** `attachments[0].files[1].content`; empty for the document itself. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((joined, step) => {
    if (typeof step === 'number') return `${joined}[${step}]`
    const key = shortKey(String(step))
    return joined === '' ? key : `${joined}.${key}`
  }, '')
}
