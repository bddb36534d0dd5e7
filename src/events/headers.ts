/** Headers as they came: a name that comes twice is refused, where node would join or drop its values. */

/** Longer than any timestamp or digest, with room for a prefix. */
const longestValue = 200

/** The value of a header that comes exactly once and is not too long; names and values take turns in `raw`. */
export function onlyHeader(raw: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  let found: string | undefined
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== wanted) continue
    if (found !== undefined) return undefined
    found = raw[at + 1]
  }
  return found !== undefined && found.length <= longestValue ? found : undefined
}
