/** The address of the service: checked once, so that the key is only ever sent where the user meant. */
import { ConfigError } from '../../lib/errors.ts'

const example = 'https://host/api/open/v1'

/**
 * Returns the address without a trailing slash. Throws ConfigError unless it is https (http on this machine
 * only), has a path, and carries neither credentials nor a query.
 */
export function readBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw refused('is not an address')
  const url = new URL(text)
  // Before anything is quoted: this text holds a secret.
  if (url.username !== '' || url.password !== '') throw refused('carries credentials')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw refused('is not https', url.host)
  }
  if (text.includes('?') || text.includes('#')) throw refused('carries a query or a fragment', url.host)
  url.pathname = url.pathname.replace(/\/+$/, '')
  if (url.pathname === '/') throw refused('ends without a path', url.host)
  return url
}

/** Hosts that never leave this machine, where plain http can be read by nobody else. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

function refused(what: string, where?: string): ConfigError {
  return new ConfigError({
    what: `baseUrl ${what}`,
    ...(where && { where }),
    next: `write it as ${example}`,
  })
}
