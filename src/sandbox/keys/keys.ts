/** API keys: which companies and agencies a key covers, and the callers refused before any record is read. */
import { BlockList, isIPv6 } from 'node:net'
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'

export interface ApiKey {
  readonly key: string
  readonly kind: 'company' | 'agency'
  readonly name?: string
  readonly description?: string
  /**
   * Company ids, or a number of the first ones; `all` by default. An agency key without a list may name the companies
   * that its agencies work for.
   */
  readonly companies?: readonly string[] | number | 'all'
  /** Agency ids of an agency key, or a number of the first ones; 1 by default. */
  readonly agencies?: readonly string[] | number
  /** Every read scope by default. */
  readonly scopes?: readonly string[]
  readonly rateLimitPerMinute?: number
  readonly rateLimitPerDay?: number
  /** Addresses or CIDR ranges. */
  readonly ipAllowlist?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt?: string
  readonly revoked?: boolean
  /** /users needs an owner who is both. */
  readonly ownerActive?: boolean
  readonly ownerVerified?: boolean
  /** A user whose role decides what /users shows; without it the key sees every user in scope. */
  readonly ownerId?: string
}

export const readScopes = [
  'read:companies',
  'read:trades',
  'read:projects',
  'read:workers',
  'read:purchase-orders',
  'read:invoices',
  'read:credit-notes',
  'read:users',
  'read:rates',
] as const

/** The contract names the first write scope; the second is the sandbox's name for the scope an invoice's file needs. */
export type Scope = (typeof readScopes)[number] | 'write:workers' | 'write:invoices'

export function bearerKey(authorization: string | undefined): string | undefined {
  return /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
}

export interface Caller {
  readonly authorization: string | undefined
  readonly address: string
  readonly nowMs: number
}

export function authenticate(keys: readonly ApiKey[], caller: Caller): ApiKey {
  const text = bearerKey(caller.authorization)
  if (text === undefined) throw new ApiError(401, 'missing API key')
  const key = keys.find(candidate => candidate.key === text)
  if (!key) throw new ApiError(401, 'invalid API key')
  if (key.revoked) throw new ApiError(401, 'revoked API key')
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= caller.nowMs) {
    throw new ApiError(401, 'expired API key')
  }
  if (key.ipAllowlist && !isAllowed(key.ipAllowlist, caller.address)) {
    throw new ApiError(403, 'IP address not allowed')
  }
  return key
}

function isAllowed(allowlist: readonly string[], address: string): boolean {
  const list = new BlockList()
  for (const item of allowlist) {
    const [network = '', prefix] = item.split('/')
    const family = isIPv6(network) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(network, family)
    else list.addSubnet(network, Number(prefix), family)
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

export function agenciesOf(key: ApiKey, world: World): readonly string[] {
  if (key.kind !== 'agency') return []
  const { agencies = 1 } = key
  return typeof agencies === 'number' ? firstIds(world, 'agencies', agencies) : agencies
}

export function companiesOf(key: ApiKey, world: World): readonly string[] | 'all' {
  const { companies = 'all' } = key
  return typeof companies === 'number' ? firstIds(world, 'companies', companies) : companies
}

function firstIds(world: World, collection: 'agencies' | 'companies', count: number): string[] {
  return world
    .all(collection)
    .slice(0, count)
    .map(record => String(record.id))
}
