/** Suggestions for a name that is not among those that exist: one mechanism for whatever has a name. */
import { closestMatch } from 'leven'

/** Without case, separators and the endings of a plural, of each word. */
const stemOf = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_./:-]+/)
    .map(word => (word.length > 3 ? word.replace(/(ies|y|es|e|s)$/, '') : word))
    .join('')

/** What people say elsewhere -> what it is called here, each a stem of its own. The first that exists is meant. */
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
]

const meanings: ReadonlyMap<string, readonly string[]> = new Map(
  otherWords.flatMap(([words, names]) => words.split(', ').map(word => [stemOf(word), names] as const)),
)

/** Shorter parts are in too many names. */
const shortestPart = 4

const shortest = (names: readonly string[]): string | undefined =>
  [...names].sort((one, other) => one.length - other.length)[0]

/** Of the names that hold all of `stem`, the one that adds least to it; else the longest that it holds. */
function partOf(stem: string, names: readonly string[]): string | undefined {
  if (stem.length < shortestPart) return undefined
  const held = names.filter(name => stemOf(name).length >= shortestPart && stem.includes(stemOf(name)))
  return shortest(names.filter(name => stemOf(name).includes(stem))) ?? shortest(held)
}

/** Nobody mistypes a longer one: to compare it with each name takes as long as it is. */
const longestName = 200

/** The same but for case, separators or plural; another word for it; a part of it; at least half of the letters right. */
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

/** `, did you mean X?`, or nothing when no name is near. */
export function didYouMean(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  return found === undefined ? '' : `, did you mean ${found}?`
}

/** More would bury the one that was meant. */
const mostOthers = 12

/** Advice for a name that is none of `names`: the likely one first, then the others if they are few. */
export function choiceOf(name: string, names: readonly string[]): string {
  const found = nearest(name, names)
  if (found === undefined) return `name one of ${names.join(', ')}`
  const others = names.filter(other => other !== found)
  if (others.length === 0 || others.length > mostOthers) return `did you mean ${found}?`
  return `did you mean ${found}? The other${others.length === 1 ? ' is' : 's are'} ${others.join(', ')}`
}
