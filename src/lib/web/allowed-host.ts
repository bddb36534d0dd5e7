/** Whether a request is addressed to this server: a web page can make its own host name point at any port of a machine. */

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
