/** Checks before a request is sent: address, key, path, page and size of the body. */
import { ConfigError } from '../../lib/errors.ts'
import { largestBody } from '../../lib/file-kind.ts'
import { isLoopback } from '../../lib/web/address-kind.ts'
import { BadRequest } from './errors.ts'
import { pageLimit } from './paging.ts'
import { type RequestQuery, requestLine } from './redact.ts'

/** The key must fit into a header; reports a stray newline from a file here rather than deep in the network code. */
export function requireKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return
  throw new ConfigError({
    what: apiKey === '' ? 'the API key is empty' : 'the API key contains spaces or unprintable characters',
    next: 'put the key alone, on one line, where apiKey is read from',
  })
}

/** Ids come from webhooks and records: a path with `..` or a hidden query would reach another resource. */
export function requirePath(path: string, method = 'GET'): void {
  const isPlain = /^(\/[\w~:%.-]+)+$/.test(path) && !/\/\.{1,2}(\/|$)|%(2e|2f|5c|00)/i.test(path)
  if (isPlain) return
  const shown = JSON.stringify(path.slice(0, 100))
  throw new BadRequest({ request: method, isWrite: method !== 'GET' }, `${shown} is not a path`)
}

export function requirePage(
  path: string,
  query: RequestQuery,
  { page, limit }: { page: number; limit: number },
): void {
  const isRight =
    Number.isInteger(page) && page >= 1 && Number.isInteger(limit) && limit >= 1 && limit <= pageLimit
  if (!isRight) throw new BadRequest({ request: requestLine(path, query) }, 'page or limit is out of range')
}

/** Above 50 MB the service would answer 413, but only after receiving everything. */
export function requireBodySize(request: string, body: string): void {
  const bytes = Buffer.byteLength(body)
  if (bytes <= largestBody) return
  throw new BadRequest({ request, isWrite: true }, `the body has ${bytes} bytes, more than 50 MB`)
}

const example = 'https://host/api/open/v1'

/**
 * Returns the address of the service without a trailing slash, checked so that the key is only sent where the user meant.
 * Throws ConfigError unless it is https (http on this machine only), has a path, and has neither credentials nor a query.
 */
export function readBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw refused('is not an address')
  const url = new URL(text)
  // First, because credentials are secret and later messages quote the host.
  if (url.username !== '' || url.password !== '') throw refused('carries credentials')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw refused('is not https', url.host)
  }
  if (text.includes('?') || text.includes('#')) throw refused('carries a query or a fragment', url.host)
  url.pathname = url.pathname.replace(/\/+$/, '')
  if (url.pathname === '/') throw refused('ends without a path', url.host)
  return url
}

function refused(what: string, where?: string): ConfigError {
  return new ConfigError({
    what: `baseUrl ${what}`,
    ...(where && { where }),
    next: `write it as ${example}`,
  })
}
