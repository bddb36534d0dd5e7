/** What a connection that failed means: wait and repeat, or have somebody look at the settings. */
import { ConfigError } from '../../lib/errors.ts'
import { type ApiFailure, BadRequest, type Facts, Retriable } from './errors.ts'

/** Raised when a whole exchange lasted too long although bytes kept trickling. */
export const TOO_SLOW = 'MUSTER_TOO_SLOW'

const TIMEOUTS = new Set([
  TOO_SLOW,
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const NAMES = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])
const NO_CONNECTION = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'])
const CLOSED = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])
/** Certificates and handshakes; EPROTO is what a server that speaks plain http on the port looks like. */
const TLS =
  /^(EPROTO|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/**
 * No byte of the request can have arrived: refused, not found, or no connection within its time. A host that is
 * unreachable is not among them, as a connection that stood can end so.
 */
export function neverArrived({ status, code }: Retriable): boolean {
  if (status !== undefined) return status === 429
  return code !== undefined && (NAMES.has(code) || NO_CONNECTION.has(code))
}

/** The family of an error that undici or the socket raised. */
export function networkFailure(error: unknown, facts: Facts, host: string): ApiFailure | ConfigError {
  const code = codeOf(error)
  const known: Facts = { ...facts, code, cause: error }
  if (CLOSED.has(code)) return new BadRequest(known, 'the client is closed')
  if (TLS.test(code)) return untrusted(known, host)
  if (TIMEOUTS.has(code)) {
    return new Retriable(known, {
      what: `${host} did not answer in time`,
      next: 'run again later; if it stays, check the network and any proxy or firewall in between',
    })
  }
  if (NAMES.has(code)) {
    return new Retriable(known, {
      what: `the host name ${host} can not be resolved`,
      next: 'check baseUrl for a misspelt host, then the DNS of this machine',
    })
  }
  if (UNREACHABLE.has(code)) {
    return new Retriable(known, {
      what: `${host} accepts no connection`,
      next: 'check host and port in baseUrl, that the service runs, and the firewall',
    })
  }
  return new Retriable(known, { what: `the connection to ${host} broke`, next: 'run again later' })
}

function untrusted(facts: Facts, host: string): ConfigError {
  return new ConfigError({
    what: `no trusted TLS connection to ${host}`,
    where: `${facts.request}: ${facts.code}`,
    next: 'check the host in baseUrl and its certificate; a private authority goes into NODE_EXTRA_CA_CERTS',
    cause: facts.cause,
  })
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string') return code
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : 'unknown'
}
