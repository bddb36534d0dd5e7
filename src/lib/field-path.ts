/** The path of a value in a JSON document, as people write it. */

/** Characters of a key: a longer one is no name that anybody gave. */
const longestStep = 100

/** A key, or its beginning. */
export const shortKey = (key: string): string =>
  key.length <= longestStep ? key : `${key.slice(0, longestStep)}…`

/** `attachments[0].files[1].content`; empty for the document itself. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`
    const key = shortKey(String(step))
    return whole === '' ? key : `${whole}.${key}`
  }, '')
}
