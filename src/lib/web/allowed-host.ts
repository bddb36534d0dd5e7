/** Whether a request is addressed to this server: a web page can make its own host name point at any port of a machine. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const ownHosts = ['127.0.0.1', 'localhost', '[::1]']

export interface Served {
  /** Address that the server listens on. */
  readonly host: string
  /** Host names, besides its own, that a request may be addressed to. */
  readonly allowedHosts: readonly string[]
}

/** The name in a Host header, without its port; undefined for anything else. */
function hostIn(header: string): string | undefined {
  return /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(header)?.[1]?.toLowerCase()
}

export function isAllowedHost(header: string | undefined, { host, allowedHosts }: Served): boolean {
  const name = header === undefined ? undefined : hostIn(header)
  if (name === undefined) return false
  const listened = host.includes(':') ? `[${host}]` : host
  return [...ownHosts, listened, ...allowedHosts].some(allowed => allowed.toLowerCase() === name)
}

/** Of a proxy in front of this server: its client is another machine, whatever the Host says. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/i.test(address)

/**
 * Whether a request comes from this machine and is addressed to it by a name of its own, or is addressed to one of
 * `others`. A sender chooses its Host, so that such a name counts only on a connection from this machine.
 */
export function isOwnRequest(
  { headers, socket }: Pick<IncomingMessage, 'headers'> & { readonly socket: Pick<Socket, 'remoteAddress'> },
  others: readonly string[],
): boolean {
  const name = headers.host === undefined ? undefined : hostIn(headers.host)
  if (name === undefined) return false
  if (others.some(other => other.toLowerCase() === name)) return true
  const isDirect = proxyHeaders.every(header => headers[header] === undefined)
  return ownHosts.includes(name) && isLoopback(socket.remoteAddress) && isDirect
}
