/** Hides parts of requests and answers in messages: always the key and the values of a search. */

/** Parameters of a request; an undefined value is left out. */
export type RequestQuery = Readonly<Record<string, string | number | boolean | undefined>>

/** Parameters whose values only give the position in a list; others, such as `query`, may identify a person. */
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

/** Max characters of a message from the service: enough for a sentence, too few for a record. */
const longestText = 200

/** `GET /timesheets?page=3&company=*`: a request as shown in messages. */
export function requestLine(path: string, query: RequestQuery = {}, method = 'GET'): string {
  const shown = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shownParameters.has(name) ? value : '*'}`)
  return `${method} ${path}${shown.length > 0 ? `?${shown.join('&')}` : ''}`
}

/** Texts that must not be shown although the service may repeat them. */
export interface HiddenTexts {
  readonly secret: string
  /** Texts of the request: a refusal may quote a name or an e-mail address. */
  readonly values?: readonly string[] | undefined
}

/**
 * Makes foreign text safe to show: one line of at most 200 characters, without control or invisible characters or hidden
 * texts. The order matters: stripping can join the halves of a split key, and trimming can leave half of one.
 */
export function harmless(text: string, { secret, values = [] }: HiddenTexts): string {
  const plain = text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim()
  const remaining = [...withoutValues(withoutSecret(plain, secret), values)]
  return remaining.length > longestText
    ? `${remaining.slice(0, longestText - 1).join('')}…`
    : remaining.join('')
}

function withoutSecret(text: string, secret: string): string {
  if (secret === '') return text
  const spellings = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  return text.replace(new RegExp(spellings.map(escaped).join('|'), 'gi'), '[key]')
}

/** Removes complete words only, the longest first: a first name of two letters must not be cut out of other words. */
function withoutValues(text: string, values: readonly string[]): string {
  const longest = [...new Set(values)].filter(value => value !== '').sort((a, b) => b.length - a.length)
  if (longest.length === 0) return text
  const pattern = `(?<![\\p{L}\\p{N}])(?:${longest.map(escaped).join('|')})(?![\\p{L}\\p{N}])`
  return text.replace(new RegExp(pattern, 'giu'), '[value]')
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')
}
