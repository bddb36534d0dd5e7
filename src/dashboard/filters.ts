/** Reads the filters of the dashboard from the address of a page. */
import { isDay } from '../lib/dates.ts'
import { UsageError } from '../lib/errors.ts'

/** The dimensions that pages are filtered by; each stands for the column NAME_id of a mart. */
export const filteredBy = ['company', 'project', 'site', 'agency', 'trade'] as const
export type FilteredBy = (typeof filteredBy)[number]

/** Whose view of billing documents; amounts of two views count the same documents and do not add up. */
export const perspectives = ['client', 'provider', 'supplier'] as const
export type Perspective = (typeof perspectives)[number]

export const defaultPerspective: Perspective = 'client'

export interface Filters {
  /** Ids by dimension; a dimension without ids is not filtered. */
  readonly ids: Readonly<Partial<Record<FilteredBy, readonly string[]>>>
  /** First and last day. */
  readonly from?: string
  readonly to?: string
  /** Only rows in this currency, as the settings name it. */
  readonly currency?: string
  /** The client's view without it. */
  readonly perspective?: Perspective
  /** Compares with the period before. */
  readonly isCompared?: boolean
}

export const noFilters: Filters = { ids: {} }

/** Max ids per filter: engines plan longer statements badly, and no reader could check them. */
const maxIds = 50
const longestId = 200

function idsIn(name: string, values: readonly string[]): readonly string[] {
  const ids = [...new Set(values.filter(value => value !== ''))]
  if (ids.length > maxIds || ids.some(id => id.length > longestId))
    throw new UsageError({ what: `too many values for ${name}`, next: `choose at most ${maxIds}` })
  return ids
}

function dayIn(name: string, value: string | null): string | undefined {
  if (value === null || value === '') return undefined
  if (isDay(value)) return value
  throw new UsageError({ what: `${name} is not a day`, next: 'write it as 2026-03-31' })
}

function currencyIn(values: readonly string[]): string | undefined {
  const [currency, second] = values.filter(value => value !== '')
  if (currency === undefined) return undefined
  if (second === undefined && /^[A-Za-z]{3,10}$/.test(currency)) return currency
  throw new UsageError({ what: 'currency is not a currency', next: 'write one as GBP' })
}

function perspectiveIn(value: string | null): Perspective | undefined {
  if (value === null || value === '') return undefined
  const found = perspectives.find(one => one === value)
  if (found !== undefined) return found
  throw new UsageError({ what: 'perspective is not one', next: `choose ${perspectives.join(', ')}` })
}

function comparisonIn(value: string | null): boolean {
  if (value === null || value === '') return false
  if (value === 'before') return true
  throw new UsageError({ what: 'compare is not a period', next: 'write compare=before' })
}

/** Throws UsageError for an invalid value. Ignores names that are not filters. */
export function readFilters(query: URLSearchParams): Filters {
  const ids = filteredBy
    .map(name => [name, idsIn(name, query.getAll(name))] as const)
    .filter(([, values]) => values.length > 0)
  const from = dayIn('from', query.get('from'))
  const to = dayIn('to', query.get('to'))
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError({
      what: 'the last day is before the first',
      where: `${from} to ${to}`,
      next: 'choose a later one',
    })
  const currency = currencyIn(query.getAll('currency'))
  const perspective = perspectiveIn(query.get('perspective'))
  return {
    ids: Object.fromEntries(ids),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(currency !== undefined && { currency }),
    ...(perspective !== undefined && { perspective }),
    ...(comparisonIn(query.get('compare')) && { isCompared: true }),
  }
}
