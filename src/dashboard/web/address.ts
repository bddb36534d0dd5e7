/** Reads the page and its filters from the address. The token comes in the fragment and is removed from it. */
import { filteredBy } from '../filters.ts'

export interface PageAddress {
  readonly page: string
  /** Filters only. */
  readonly query: URLSearchParams
}

const filterNames: readonly string[] = [...filteredBy, 'from', 'to', 'compare', 'perspective']

/** A page of a report is named by the fragment, because a file has no other address: `#cost?agency=ID`. */
export function readPlace(): PageAddress {
  const [page = '', filters = ''] = location.hash.slice(1).split('?')
  const all = new URLSearchParams(location.search)
  const query = new URLSearchParams()
  for (const [name, value] of [...all, ...new URLSearchParams(filters)])
    if (filterNames.includes(name) && value !== '') query.append(name, value)
  return { page: all.get('page') ?? page, query }
}

export function addressOf({ page, query }: PageAddress): string {
  const all = new URLSearchParams({ page })
  for (const [name, value] of query) all.append(name, value)
  return `?${all}`
}

export const fragmentOf = ({ page, query }: PageAddress): string =>
  `#${page}${query.size > 0 ? `?${query}` : ''}`

/** The filters with other values for one of them. */
export function withValues(query: URLSearchParams, name: string, values: readonly string[]): URLSearchParams {
  const next = new URLSearchParams(query)
  next.delete(name)
  for (const value of values) if (value !== '') next.append(name, value)
  return next
}

const tokenKey = 'muster-token'

/** Removes the token from the fragment at once, so that a copied address does not carry it. */
export function takeToken(): string | undefined {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? []
  if (token !== undefined) {
    sessionStorage.setItem(tokenKey, token)
    history.replaceState(null, '', location.pathname + location.search)
  }
  return sessionStorage.getItem(tokenKey) ?? undefined
}
