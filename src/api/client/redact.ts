/** Which parts of a request or an answer may be shown to people: never the key, never the values of a search. */

/** Parameters of a request; an undefined value is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Parameters whose values tell the position in a list; others, such as `query`, may tell whom a request is about. */
const shownParameters = new Set([
  'page',
  'limit',
  'sortBy',
  'sortOrder',
  'from',
  'to',
  'dateField',
  'status',
  'fields',
])

/** Characters kept of a message of the service: enough for a sentence, too few for a whole record. */
const longestText = 200

/** `GET /timesheets?page=3&company=*`: a request as it may stand in messages. */
export function requestLine(path: string, query: Query = {}, method = 'GET'): string {
  const shown = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shownParameters.has(name) ? value : '*'}`)
  return `${method} ${path}${shown.length > 0 ? `?${shown.join('&')}` : ''}`
}

/** Texts that must not be shown although the service may repeat them. */
export interface Hidden {
  readonly secret: string
  /** Texts that a request carried: a refusal may quote the name or the e-mail address that it refuses. */
  readonly values?: readonly string[] | undefined
}

/**
 * Foreign text on one line, without control or invisible characters, without hidden texts, at most 200 characters. The
 * order matters: stripping can join the halves of a split key, and trimming can leave half of one.
 */
export function harmless(text: string, { secret, values = [] }: Hidden): string {
  const plain = text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim()
  const kept = [...withoutValues(withoutSecret(plain, secret), values)]
  return kept.length > longestText ? `${kept.slice(0, longestText - 1).join('')}…` : kept.join('')
}

function withoutSecret(text: string, secret: string): string {
  if (secret === '') return text
  const spellings = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  return text.replace(new RegExp(spellings.map(escaped).join('|'), 'gi'), '[key]')
}

/** Whole words only, the longest first: a first name of two letters must not be cut out of every word. */
function withoutValues(text: string, values: readonly string[]): string {
  const longest = [...new Set(values)].filter(value => value !== '').sort((a, b) => b.length - a.length)
  if (longest.length === 0) return text
  const pattern = `(?<![\\p{L}\\p{N}])(?:${longest.map(escaped).join('|')})(?![\\p{L}\\p{N}])`
  return text.replace(new RegExp(pattern, 'giu'), '[value]')
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')
}
