/** Finds text that no engine stores: NUL, half a surrogate pair, and bytes that are not UTF-8. */

/** Matches every escape in turn, so that an escaped backslash never counts as the start of one. */
const escapes = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\./gis

/** Escapes that may encode NUL, which PostgreSQL cannot store, or half a surrogate pair, which is not valid text. */
const mayBeUnstorable = /\\u(0000|d[89a-f])/i

const isUnstorable = (escaped: string | undefined): boolean => /^(0000|d[89a-f])/i.test(escaped ?? '')

export const hasUnstorable = (bytes: Buffer): boolean =>
  bytes.includes('\\u') && mayBeUnstorable.test(bytes.toString('latin1'))

/** Replaces each unstorable escape with a replacement character and its digits, so that different ids stay different. */
export const harmless = (text: string): string =>
  text.replace(escapes, (whole: string, ...groups: (string | undefined)[]) =>
    isUnstorable(groups[2]) ? `\\ufffd${groups[2]?.toLowerCase()}` : whole,
  )

/** Why a record's JSON cannot be stored; undefined when it can. */
export function whyUnstorable(text: string): string | undefined {
  for (const [, , , escaped] of text.matchAll(escapes)) {
    if (!isUnstorable(escaped)) continue
    return escaped === '0000' ? 'text with a NUL character' : 'text with half a surrogate pair'
  }
  return undefined
}
