/** The quirks of pages: which page is asked of the service in place of the one asked for, and what the answer says. */
import type { StoredRecord } from '../../src/sandbox/record.ts'
import type { Quirks } from './quirk-settings.ts'

export interface Page {
  readonly page: number
  readonly limit: number
}

/** An answer of the service with `meta`. */
export interface ListAnswer {
  readonly success: boolean
  readonly data: readonly StoredRecord[]
  readonly meta: StoredRecord
}

/** What the quirks of a list remember from one request to the next. */
export interface Remembered {
  answered: number
  hasRepeated: boolean
  readonly hidden: ReadonlySet<unknown>
}

const least = (one: number, other = Infinity) => Math.min(one, other)

/** Undefined where a parameter is not as the contract has it: the service refuses it. */
export function pageAsked({ page = '1', limit = '50' }: StoredRecord): Page | undefined {
  const asked = { page: Number(page), limit: Number(limit) }
  return asked.page >= 1 && asked.limit >= 1 && asked.limit <= 200 ? asked : undefined
}

/** The page that is served in place of the one that was asked for. */
export function pageServed(quirks: Quirks, { page, limit }: Page, remembered: Remembered): Page {
  const capped = least(least(limit, quirks['page-cap']), quirks['limit-cap'])
  if (quirks['same-page'] === 'yes') return { page: 1, limit: capped }
  if (quirks['repeat-page'] !== page || remembered.hasRepeated) return { page, limit: capped }
  remembered.hasRepeated = true
  return { page: Math.max(1, page - 1), limit: capped }
}

const reportedRows = (quirks: Quirks, { meta }: ListAnswer): number =>
  least(Number(meta.total), quirks['total-cap'])

/** Whether the list has rows before this page and, by what the service says, none on it. */
export const isPastEnd = (quirks: Quirks, { page, limit }: Page, answer: ListAnswer): boolean =>
  page > 1 && (page - 1) * limit >= reportedRows(quirks, answer)

export const lastPage = (quirks: Quirks, { limit }: Page, answer: ListAnswer): number =>
  Math.max(1, Math.ceil(reportedRows(quirks, answer) / limit))

interface Served {
  readonly asked: Page
  readonly answer: ListAnswer
}

/** The answer with the rows and the `meta` that the quirks leave of it. */
export function pageSent(quirks: Quirks, { asked, answer }: Served, remembered: Remembered): ListAnswer {
  const rows = answer.data.filter(row => !remembered.hidden.has(row.id ?? contentOf(row)))
  const lacking = asked.page === 2 ? (quirks['short-page'] ?? 0) : 0
  const kept = rows.slice(0, least(Math.max(0, rows.length - lacking), quirks['cut-pages']))
  const { total, ...meta } = answer.meta
  const isEmpty = quirks.empty === 'yes'
  const reported = isEmpty ? 0 : least(overstated(Number(total), quirks), quirks['total-cap'])
  const limit = least(asked.limit, quirks['limit-cap'])
  return {
    ...answer,
    data: isEmpty ? [] : kept,
    meta: { ...meta, page: asked.page, limit, ...totalSent(quirks.total, reported, remembered) },
  }
}

/** Rows without an id are known by what they hold. */
export const contentOf = (row: StoredRecord): string => JSON.stringify(row)

const overstated = (total: number, { 'total-over': over = 0 }: Quirks): number =>
  total === 0 ? total : total + over

function totalSent(how: Quirks['total'], total: number, { answered }: Remembered): object {
  switch (how) {
    case 'null':
      return { total: null }
    case 'missing':
      return {}
    case 'text':
      return { total: String(total) }
    case 'shrinking':
      return { total: Math.max(0, total - answered) }
    default:
      return { total }
  }
}
