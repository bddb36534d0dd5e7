/** Which names a request may be addressed to. */

const own = ['127.0.0.1', 'localhost', '[::1]']

/** The name in a Host header, without its port; undefined for what is no name. */
function nameIn(header: string): string | undefined {
  return /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(header)?.[1]?.toLowerCase()
}

export function isAllowedHost(
  header: string | undefined,
  { host, allowedHosts }: { readonly host: string; readonly allowedHosts: readonly string[] },
): boolean {
  const name = header === undefined ? undefined : nameIn(header)
  if (name === undefined) return false
  const listened = host.includes(':') ? `[${host}]` : host
  return [...own, listened, ...allowedHosts].some(allowed => allowed.toLowerCase() === name)
}
