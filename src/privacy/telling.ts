/** Which values tell who somebody is, and how two ways of writing one are recognised as the same. */

/** Letters and digits in lower case, words separated by one space, without accents. */
export const wordsOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The last digits of a telephone number are the same with a country code, with a zero, and with neither. */
const phoneDigits = 9

/** Shorter ones are dates, amounts and short references. */
const leastDigits = 8

/** At least this many letters and digits. */
const leastLetters = 6

export type Kind = 'e-mail address' | 'telephone number' | 'words'

export interface Telling {
  readonly kind: Kind
  /** Equal for every way of writing the value. */
  readonly normal: string
}

const email = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const phone = /^\+?[\d\s().\-/]+$/

/**
 * An e-mail address; a telephone or account number of at least eight digits; two words or more, or one with digits, of at least six
 * letters and digits. Undefined for any other text, which many people share: a first name, a town, a short code.
 */
export function telling(text: string): Telling | undefined {
  const trimmed = text.trim()
  if (email.test(trimmed)) return { kind: 'e-mail address', normal: trimmed.toLowerCase() }
  if (phone.test(trimmed)) {
    const digits = trimmed.replace(/\D/g, '')
    if (digits.length < leastDigits || /^\d{4}-\d\d-\d\d/.test(trimmed)) return undefined
    return { kind: 'telephone number', normal: digits.slice(-phoneDigits) }
  }
  const normal = wordsOf(trimmed)
  const isLong = normal.replaceAll(' ', '').length >= leastLetters
  const isOwn = normal.includes(' ') || (/\d/.test(normal) && /\p{L}/u.test(normal))
  return isLong && isOwn && normal.length <= longest ? { kind: 'words', normal } : undefined
}

/** Longer texts are sentences; what they contain is looked for, not they themselves. */
const longest = 80

/** Names have up to so many words. */
const mostWords = 4

/** What a text is or contains: itself, e-mail addresses and telephone numbers in it, and each two to four words in a row. */
export function tellingIn(text: string): Set<string> {
  const found = new Set<string>()
  const whole = telling(text)
  if (whole) found.add(whole.normal)
  for (const [one] of text.matchAll(/[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+\.[^\s@<>"'(),;:]*[^\s@<>"'(),;:.]/g))
    found.add(one.toLowerCase())
  for (const [one] of text.matchAll(/\+?\d[\d\s().\-/]{6,}\d/g)) {
    const normal = telling(one)?.normal
    if (normal) found.add(normal)
  }
  const words = wordsOf(text).split(' ')
  for (let from = 0; from < words.length; from += 1)
    for (let count = 2; count <= mostWords && from + count <= words.length; count += 1)
      found.add(words.slice(from, from + count).join(' '))
  return found
}
