/** Checks made before a request costs anything. */
import { ConfigError } from '../../lib/errors.ts'
import { largestBody } from '../../lib/file-kind.ts'
import { BadRequest } from './errors.ts'
import { pageLimit } from './paging.ts'
import { type Query, requestLine } from './redact.ts'

/**
 * What a header can carry, so that a stray newline from a file is named here and not deep in the network
 * code.
 */
export function requireKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return
  throw new ConfigError({
    what: apiKey === '' ? 'the API key is empty' : 'the API key contains spaces or unprintable characters',
    next: 'put the key alone, on one line, where apiKey is read from',
  })
}

/**
 * Ids come from webhooks and records: a path that climbs, or that smuggles a query, would reach another
 * resource.
 */
export function requirePath(path: string, method = 'GET'): void {
  const isPlain = /^(\/[\w~:%.-]+)+$/.test(path) && !/\/\.{1,2}(\/|$)|%(2e|2f|5c|00)/i.test(path)
  if (isPlain) return
  const shown = JSON.stringify(path.slice(0, 100))
  throw new BadRequest({ request: method, isWrite: method !== 'GET' }, `${shown} is not a path`)
}

export function requirePage(
  path: string,
  query: Query,
  { page, limit }: { page: number; limit: number },
): void {
  const isRight =
    Number.isInteger(page) && page >= 1 && Number.isInteger(limit) && limit >= 1 && limit <= pageLimit
  if (!isRight) throw new BadRequest({ request: requestLine(path, query) }, 'page or limit is out of range')
}

/** Beyond 50 MB the service answers 413, after everything was sent. */
export function requireBodySize(request: string, body: string): void {
  const bytes = Buffer.byteLength(body)
  if (bytes <= largestBody) return
  throw new BadRequest({ request, isWrite: true }, `the body has ${bytes} bytes, more than 50 MB`)
}
