/** The filters of the dashboard, as they stand in the address of a page. */
import { isDay } from '../lib/dates.ts'
import { UsageError } from '../lib/errors.ts'
import { type FilteredBy, filteredBy } from './filter-names.ts'

export interface Filters {
  /** Ids by dimension; a dimension without ids is not filtered. */
  readonly ids: Readonly<Partial<Record<FilteredBy, readonly string[]>>>
  /** First and last day. */
  readonly from?: string
  readonly to?: string
  /** Only rows in this currency, as the settings name it. */
  readonly currency?: string
}

export const noFilters: Filters = { ids: {} }

/** More would make a statement that no engine plans well, and no reader could check. */
const mostIds = 50
const longestId = 200

function idsIn(name: string, values: readonly string[]): readonly string[] {
  const ids = [...new Set(values.filter(value => value !== ''))]
  if (ids.length > mostIds || ids.some(id => id.length > longestId))
    throw new UsageError({ what: `too many values for ${name}`, next: `choose at most ${mostIds}` })
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

/** Throws UsageError for a value that no filter can have. A name that is no filter is left alone. */
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
  return {
    ids: Object.fromEntries(ids),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(currency !== undefined && { currency }),
  }
}
