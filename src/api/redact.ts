/** What of a request or an answer may be shown to people: never the key, never the values of a search. */

/** Parameters of a request; an undefined value is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Their values say where in a list a request was, not whom it was about; `query`, `company` and others may.
 */
const SHOWN = new Set(['page', 'limit', 'sortBy', 'sortOrder', 'from', 'to', 'dateField', 'status', 'fields'])

/** Characters of a service's own words that are kept: enough for a sentence, too few for a dumped record. */
const LONGEST = 200

/** `GET /timesheets?page=3&company=*`: a request as it may stand in messages. */
export function requestLine(path: string, query: Query = {}): string {
  const shown = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${SHOWN.has(name) ? value : '*'}`)
  return `GET ${path}${shown.length > 0 ? `?${shown.join('&')}` : ''}`
}

/**
 * Foreign text on one line, without control or invisible characters, without `secret`, at most 200
 * characters. The order matters: stripping can join the halves of a split key, and trimming can leave a half
 * of one behind.
 */
export function harmless(text: string, secret = ''): string {
  const plain = text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim()
  const kept = [...withoutSecret(plain, secret)]
  return kept.length > LONGEST ? `${kept.slice(0, LONGEST - 1).join('')}…` : kept.join('')
}

function withoutSecret(text: string, secret: string): string {
  if (secret === '') return text
  const spellings = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  const pattern = spellings.map(spelling => spelling.replace(/[^A-Za-z0-9]/gu, '\\$&')).join('|')
  return text.replace(new RegExp(pattern, 'gi'), '[key]')
}
