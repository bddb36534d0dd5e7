/** Suggests an existing name for one that does not exist, for everything that has a name. */
import { closestMatch } from 'leven'

/** Removes case, separators and plural endings from each word. */
const stemOf = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_./:-]+/)
    .map(word => (word.length > 3 ? word.replace(/(ies|y|es|e|s)$/, '') : word))
    .join('')

/** Words used elsewhere -> names used here, compared by stem. Suggests the first name that exists. */
const otherWords: readonly (readonly [words: string, names: readonly string[]])[] = [
  ['hours, timecards, shifts, attendance', ['timesheets']],
  ['jobs, roles, vacancies, positions, requirements, demands', ['requisitions']],
  ['placements, bookings, engagements', ['assignments']],
  ['clients, customers, agencies, suppliers, vendors, organisations', ['companies']],
  ['locations, offices, workplaces', ['sites']],
  ['bills, billing', ['invoices']],
  ['orders, po, pos', ['purchase-orders']],
  ['refunds', ['credit-notes']],
  ['costs, receipts', ['expenses']],
  ['prices, tariffs, pay', ['rates']],
  ['skills, qualifications, certificates, competencies', ['competency-matrix']],
  ['occupations, professions', ['trades']],
  ['people, persons, employees, staff', ['users', 'worker']],
  ['contractors, candidates', ['worker', 'users']],
  ['whoami, self, account', ['me']],
  ['pull, load, fetch, download, import, ingest', ['sync']],
  ['verify, validate, test', ['check']],
  ['compile, transform, rebuild', ['build']],
  ['erase, gdpr, anonymise', ['forget']],
  ['setup, configure', ['init']],
  ['diagnose, health', ['doctor']],
  ['listen, server, webhook, webhooks', ['serve', 'webhook']],
  ['catalogue, describe, dictionary', ['docs']],
  ['url, endpoint, address, host', ['baseUrl', 'url']],
  ['token, password', ['apiKey']],
  ['database, db, store', ['warehouse']],
  ['timezone, tz', ['reportingZone']],
  ['dates, calendar, years', ['plausibleDates']],
]

const meanings: ReadonlyMap<string, readonly string[]> = new Map(
  otherWords.flatMap(([words, names]) => words.split(', ').map(word => [stemOf(word), names] as const)),
)

/** Min length of a part; shorter ones are in too many names. */
const shortestPart = 4

const shortest = (names: readonly string[]): string | undefined =>
  [...names].sort((one, other) => one.length - other.length)[0]

/** The shortest name that contains `stem`, else the shortest that `stem` contains. */
function partOf(stem: string, names: readonly string[]): string | undefined {
  if (stem.length < shortestPart) return undefined
  const containing = names.filter(name => stemOf(name).length >= shortestPart && stem.includes(stemOf(name)))
  return shortest(names.filter(name => stemOf(name).includes(stem))) ?? shortest(containing)
}

/** Max length of a name to compare: longer texts are no typing mistakes, and comparing them is slow. */
const longestName = 200

/** Finds a name that differs in case, separators or plural, is a synonym, contains the other, or shares half the letters. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined
  const stem = stemOf(name)
  const byStem = new Map(names.map(one => [stemOf(one), one]))
  const another = meanings.get(stem)?.flatMap(word => byStem.get(stemOf(word)) ?? [])[0]
  const found = (stem === '' ? undefined : byStem.get(stem)) ?? another ?? partOf(stem, names)
  const closest = (typed: string): string | undefined =>
    closestMatch(typed, [...names], { maxDistance: Math.floor(name.length / 2) })
  return found ?? closest(name) ?? closest(name.toLowerCase())
}

/** Returns `, did you mean X?`, or nothing if no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return found === undefined ? '' : `, did you mean ${found}?`
}

/** More would hide the intended one. */
const maxOthers = 12

/** Advice for a name that is not in `names`: the nearest first, then the others if there are few. */
export function choiceOf(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  if (found === undefined) return `name one of ${names.join(', ')}`
  const others = names.filter(other => other !== found)
  if (others.length === 0 || others.length > maxOthers) return `did you mean ${found}?`
  return `did you mean ${found}? The other${others.length === 1 ? ' is' : 's are'} ${others.join(', ')}`
}
