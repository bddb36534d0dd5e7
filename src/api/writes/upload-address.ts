/** Where the service may have a file sent, and with which headers: it must not reach into networks through this machine. */
import { lookup as resolve } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { type AddressKind, addressKind } from '../../lib/web/address-kind.ts'

/** Code of a host whose addresses are all out of reach. */
export const outOfReach = 'MUSTER_OUT_OF_REACH'

const reach: Readonly<Record<AddressKind, number>> = { public: 0, private: 1, loopback: 2, local: 3 }

/**
 * A public address always; a private one for a service in a private network; this machine for a service on it. Never a
 * link-local address, where clouds keep credentials.
 */
const isWithin = (kind: AddressKind, service: AddressKind): boolean =>
  kind !== 'local' && reach[kind] <= reach[service]

/** Why the address is refused; undefined for one that is allowed, as long as its name resolves to such an address. */
export function addressProblem(text: string, service: AddressKind): string | undefined {
  if (!URL.canParse(text)) return 'is no address'
  const { protocol, hostname, username, password } = new URL(text)
  const kind = addressKind(hostname)
  if (username !== '' || password !== '') return 'carries credentials'
  const isPlain = protocol === 'http:' && kind === 'loopback' && service === 'loopback'
  if (protocol !== 'https:' && !isPlain) return 'is not https'
  if (kind !== undefined && !isWithin(kind, service)) return 'is in a private network or on this machine'
  return undefined
}

/** Where the service itself is: of several addresses the one that most can reach. */
export async function placeOf(hostname: string): Promise<AddressKind> {
  const known = addressKind(hostname)
  if (known) return known
  // Where only the proxy resolves names, nothing is known.
  const found = await lookup(hostname, { all: true }).catch(() => [])
  const kinds = found.map(({ address }) => addressKind(address) ?? 'public')
  return kinds.sort((one, other) => reach[one] - reach[other])[0] ?? 'public'
}

/** Resolves to addresses within reach only, at the moment of the connection: a name may resolve to another one later. */
export const lookupWithin =
  (service: AddressKind): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const allowed = (found ?? []).filter(({ address }) =>
        isWithin(addressKind(address) ?? 'public', service),
      )
      const [first] = allowed
      if (error) callback(error, '')
      else if (!first) callback(Object.assign(new Error(hostname), { code: outOfReach }), '')
      else if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })

/** What object stores sign. `Host`, credentials and framing are never the service's to choose. */
const allowedHeaders =
  /^(content-(type|disposition|encoding|language|md5)|cache-control|expires|if-(none-)?match|x-(amz|ms|goog)-[a-z0-9-]+)$/i

export function allowedUploadHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => allowedHeaders.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
    ),
  )
}
