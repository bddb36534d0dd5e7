/** Classifies failed connections: retry later, or correct the settings. */
import { ConfigError, limitBehind, type MusterError } from '../../lib/errors.ts'
import type { HttpProxy } from '../../lib/web/proxy.ts'
import { type ProxyFailure, proxyFailure } from '../agent.ts'
import { type ApiFailure, BadRequest, NotTheService, type RequestFacts, RetriableError } from './errors.ts'

/** Code of an exchange that took too long although bytes kept arriving. */
export const tooSlowCode = 'MUSTER_TOO_SLOW'

const timeoutCodes = new Set([
  tooSlowCode,
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const nameFailures = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const unreachableCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])
const noConnection = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'])
const closedCodes = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])
/** Failures of certificates and handshakes; a plain http server on the port causes EPROTO. */
const tlsFailures =
  /^(EPROTO|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/**
 * Whether no byte of the request can have arrived: refused, host not found, or no connection in time. An unreachable
 * host does not count, because an established connection can end that way.
 */
export function neverArrived(error: RetriableError): boolean {
  const { status, code } = error
  if (status !== undefined) return status === 429 && !(error instanceof NotTheService)
  return code !== undefined && (nameFailures.has(code) || noConnection.has(code) || code.startsWith('PROXY_'))
}

const unreachedCodes = new Set([...nameFailures, ...unreachableCodes, 'UND_ERR_CONNECT_TIMEOUT'])

/** Whether there was no connection at all: the host is down, the address is wrong, or this machine is offline. */
export const isUnreached = ({ status, code }: RetriableError): boolean =>
  status === undefined && code !== undefined && unreachedCodes.has(code)

interface NetworkPath {
  readonly host: string
  readonly proxy: HttpProxy | undefined
}

/** The error class for an error of undici or of the socket. */
export function networkFailure(
  error: unknown,
  facts: RequestFacts,
  { host, proxy }: NetworkPath,
): ApiFailure | MusterError {
  const ofProxy = proxy && proxyFailure(error)
  if (ofProxy) return throughProxy(ofProxy, facts, { host, proxy })
  const code = codeOf(error)
  const known: RequestFacts = { ...facts, code, cause: error }
  if (closedCodes.has(code)) return new BadRequest(known, 'the client is closed')
  if (tlsFailures.test(code)) return untrusted(known, host)
  if (timeoutCodes.has(code)) {
    return new RetriableError(known, {
      what: `${host} did not answer in time`,
      next: 'run again later; if it keeps happening, check the network and any proxy or firewall in between',
    })
  }
  if (nameFailures.has(code)) {
    return new RetriableError(known, {
      what: `the host name ${host} cannot be resolved`,
      next: 'check baseUrl for a misspelt host, then the DNS of this machine',
    })
  }
  if (unreachableCodes.has(code)) {
    return new RetriableError(known, {
      what: `${host} accepts no connection`,
      next: 'check host and port in baseUrl, that the service runs, and the firewall',
    })
  }
  const limit = limitBehind(error)
  // A system limit, such as memory for undici's WebAssembly HTTP parser: neither request nor network is at fault.
  if (limit !== undefined) return limit
  return new RetriableError(known, { what: `the connection to ${host} broke`, next: 'run again later' })
}

/** Errors of a proxy, named without its credentials. */
function throughProxy(
  cause: ProxyFailure,
  facts: RequestFacts,
  { host, proxy }: { readonly host: string; readonly proxy: HttpProxy },
): ApiFailure | ConfigError {
  const { code } = cause
  const known = { ...facts, code, cause }
  const name = `the proxy ${proxy.url} (${proxy.variable})`
  if (code === 'PROXY_407')
    return new RetriableError(known, {
      what: `${name} requires a user name and a password, or rejects them`,
      next: `write ${proxy.variable} as http://USER:PASSWORD@HOST:PORT`,
    })
  if (code.startsWith('PROXY_'))
    return new RetriableError(known, {
      what: `${name} refuses to connect to ${host}`,
      next: `ask its operators to allow ${host}, or name the host in NO_PROXY`,
    })
  if (tlsFailures.test(code)) return untrusted(known, name)
  return new RetriableError(known, {
    what: `${name} was not reached`,
    next: `check ${proxy.variable}, or name ${host} in NO_PROXY if it can be reached directly`,
  })
}

function untrusted(facts: RequestFacts, host: string): ConfigError {
  return new ConfigError({
    what: `no trusted TLS connection to ${host}`,
    where: `${facts.request}: ${facts.code}`,
    next: 'check the address and its certificate; a private authority goes into NODE_EXTRA_CA_CERTS',
    cause: facts.cause,
  })
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string') return code
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : 'unknown'
}
