/** Decides which values identify a person, and normalises different spellings of one value. */

/** Letters and digits in lower case, words separated by one space, without accents. */
export const wordsOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The last digits of a telephone number are the same with a country code, with a leading zero, and with neither. */
const phoneDigits = 9

/** Shorter numbers are dates, amounts and short references. */
const minDigits = 8

/** Minimum letters and digits of identifying words. */
const minLetters = 6

export type IdentifierKind = 'e-mail address' | 'telephone number' | 'words'

export interface Identifier {
  readonly kind: IdentifierKind
  /** Equal for all spellings of the value. */
  readonly normal: string
}

const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const phone = /^\+?[\d\s().\-/]+$/

/**
 * An e-mail address; a telephone or account number of at least eight digits; two words or more, or one with digits, of at least six
 * letters and digits. Undefined for any other text, which many people share: a first name, a town, a short code.
 */
export function identifierOf(text: string): Identifier | undefined {
  const trimmed = text.trim()
  if (email.test(trimmed)) return { kind: 'e-mail address', normal: trimmed.toLowerCase() }
  if (phone.test(trimmed)) {
    const digits = trimmed.replace(/\D/g, '')
    if (digits.length < minDigits || /^\d{4}-\d\d-\d\d/.test(trimmed)) return undefined
    return { kind: 'telephone number', normal: digits.slice(-phoneDigits) }
  }
  const normal = wordsOf(trimmed)
  const isLong = normal.replaceAll(' ', '').length >= minLetters
  const isOwn = normal.includes(' ') || (/\d/.test(normal) && /\p{L}/u.test(normal))
  return isLong && isOwn && normal.length <= longest ? { kind: 'words', normal } : undefined
}

/** Longer texts are sentences: only the identifiers in them count. */
const longest = 80

/** A name has at most this many words. */
const maxWords = 4

/** Identifiers in a text: the text itself, its e-mail addresses and telephone numbers, and any two to four words in a row. */
export function identifiersIn(text: string): Set<string> {
  const found = new Set<string>()
  const identifier = identifierOf(text)
  if (identifier) found.add(identifier.normal)
  for (const [one] of text.matchAll(/[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+\.[^\s@<>"'(),;:]*[^\s@<>"'(),;:.]/g))
    found.add(one.toLowerCase())
  for (const [one] of text.matchAll(/\+?\d[\d\s().\-/]{6,}\d/g)) {
    const normal = identifierOf(one)?.normal
    if (normal) found.add(normal)
  }
  const words = wordsOf(text).split(' ')
  for (let from = 0; from < words.length; from += 1)
    for (let count = 2; count <= maxWords && from + count <= words.length; count += 1)
      found.add(words.slice(from, from + count).join(' '))
  return found
}
