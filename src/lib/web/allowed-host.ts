/** Decides whether a request is addressed to this server: a web page can point its own host name at any port. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const ownHosts = ['127.0.0.1', 'localhost', '[::1]']

export interface ServedAddress {
  /** Address that the server listens on. */
  readonly host: string
  /** Host names, besides its own, that a request may be addressed to. */
  readonly allowedHosts: readonly string[]
}

/** The head of a request, as received by Node. */
interface RequestHead {
  readonly url?: string | undefined
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
}

/** The name in a Host header, without its port; undefined for anything else. */
function hostIn(header: string): string | undefined {
  return /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(header)?.[1]?.toLowerCase()
}

/** Every Host header, and the host of an absolute address (`GET http://host/path`); routers read only its path. */
function hostsOf({ url = '', rawHeaders }: RequestHead): string[] {
  const headers = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2,
  )
  const [, authority] = /^[^/]*:\/\/([^/?#]*)/.exec(url) ?? []
  return authority === undefined ? headers : [...headers, authority]
}

export function isAddressedHere(received: RequestHead, { host, allowedHosts }: ServedAddress): boolean {
  const listened = host.includes(':') ? `[${host}]` : host
  const allowed = [...ownHosts, listened, ...allowedHosts].map(name => name.toLowerCase())
  const hosts = hostsOf(received)
  return hosts.length > 0 && hosts.every(named => allowed.includes(hostIn(named) ?? ''))
}

/** Headers of a proxy in front of this server: the client is another machine, whatever the Host says. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i.test(address)

/**
 * Whether a request comes from this machine and is addressed to one of its own names, or is addressed to one of `others`. A
 * sender can choose any Host, so own names count only on a connection from this machine.
 */
export function isOwnRequest(
  request: Pick<IncomingMessage, 'headers' | 'url' | 'rawHeaders'> & {
    readonly socket: Pick<Socket, 'remoteAddress'>
  },
  others: readonly string[],
): boolean {
  const hosts = hostsOf(request).map(hostIn)
  const isOneOf = (names: readonly string[]): boolean =>
    hosts.length > 0 && hosts.every(named => named !== undefined && names.includes(named))
  if (isOneOf(others.map(other => other.toLowerCase()))) return true
  const isDirect = proxyHeaders.every(header => request.headers[header] === undefined)
  return isOneOf(ownHosts) && isLoopback(request.socket.remoteAddress) && isDirect
}
