/** The quirks of pages: which page is served for the one that was asked for, and what its answer says. */
import type { Answer } from '../declare/endpoint.ts'
import type { StoredRecord } from '../records/record.ts'
import { ApiError, Declined } from '../refusals/api-error.ts'
import type { Quirks } from './quirk-options.ts'

export interface Page {
  readonly page: number
  readonly limit: number
}

/** What the quirks of a list remember from one request to the next. */
export interface Remembered {
  answered: number
  hasRepeated: boolean
  readonly hidden: ReadonlySet<unknown>
}

const least = (one: number, other: number | 'none') => (other === 'none' ? one : Math.min(one, other))

/** Undefined where a parameter is not as the contract has it: the endpoint refuses it. */
export function pageAsked(query: StoredRecord): Page | undefined {
  const { page = '1', limit = '50' } = query
  const asked = { page: Number(page), limit: Number(limit) }
  return asked.page >= 1 && asked.limit >= 1 && asked.limit <= 200 ? asked : undefined
}

export function checkForbidden(quirks: Quirks, { answered }: Remembered): void {
  const after = quirks['forbidden-after']
  if (after !== 'none' && answered >= after) throw new ApiError(403, 'the key may not read this list')
}

/** The page that is served in place of the one that was asked for. */
export function pageServed(quirks: Quirks, { page, limit }: Page, remembered: Remembered): Page {
  const capped = least(least(limit, quirks['page-cap']), quirks['limit-cap'])
  if (quirks['same-page'] === 'yes') return { page: 1, limit: capped }
  if (quirks['repeat-page'] !== page || remembered.hasRepeated) return { page, limit: capped }
  remembered.hasRepeated = true
  return { page: Math.max(1, page - 1), limit: capped }
}

/** Rows of the list as the service says. */
const saidRows = (quirks: Quirks, { meta }: Answer): number =>
  least(Number((meta as StoredRecord).total), quirks['total-cap'])

/** Whether the list has rows before this page and, by what the service says, none on it. */
export const isPastEnd = (quirks: Quirks, { page, limit }: Page, answer: Answer): boolean =>
  page > 1 && (page - 1) * limit >= saidRows(quirks, answer)

/** The page to serve in place of one after the last; undefined when there is none. Throws the refusal that the quirk asks for. */
export function pagePastEnd(quirks: Quirks, { limit }: Page, answer: Answer): number | undefined {
  const how = quirks['past-end']
  if (how === '404') throw new ApiError(404, 'the list has no such page')
  if (how === '400') throw new Declined('the list has no such page')
  return how === 'last' ? Math.max(1, Math.ceil(saidRows(quirks, answer) / limit)) : undefined
}

/** The answer with the rows and the `meta` that the quirks leave of it. */
export function pageSent(quirks: Quirks, { asked, answer }: Served, remembered: Remembered): Answer {
  const rows = (answer.data as readonly StoredRecord[]).filter(
    row => !remembered.hidden.has(row.id ?? contentOf(row)),
  )
  const lacking = asked.page === 2 && quirks['short-page'] !== 'none' ? quirks['short-page'] : 0
  const kept = rows.slice(0, least(Math.max(0, rows.length - lacking), quirks['cut-pages']))
  const { total, ...meta } = answer.meta as StoredRecord
  const isEmpty = quirks.empty === 'yes'
  const said = isEmpty ? 0 : least(overstated(Number(total), quirks), quirks['total-cap'])
  const limit = least(asked.limit, quirks['limit-cap'])
  return {
    data: isEmpty ? [] : kept,
    meta: { ...meta, page: asked.page, limit, ...totals[quirks.total](said, remembered) },
  }
}

/** Rows without an id are known by what they hold. */
export const contentOf = (row: StoredRecord): string => JSON.stringify(row)

function overstated(total: number, { 'total-over': over }: Quirks): number {
  return over === 'none' || total === 0 ? total : total + over
}

interface Served {
  readonly asked: Page
  readonly answer: Answer
}

const totals: Readonly<Record<Quirks['total'], (total: number, remembered: Remembered) => object>> = {
  right: total => ({ total }),
  null: () => ({ total: null }),
  missing: () => ({}),
  text: total => ({ total: String(total) }),
  shrinking: (total, { answered }) => ({ total: Math.max(0, total - answered) }),
}
