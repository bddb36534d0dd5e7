/** API keys: what one may see, and who is refused before any record is looked at. */
import { BlockList, isIPv6 } from 'node:net'
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'

export interface ApiKey {
  readonly key: string
  readonly kind: 'company' | 'agency'
  readonly name?: string
  readonly description?: string
  /**
   * Company ids, or so many of the world's first ones; `all` by default. An agency key without a list may name the
   * companies its agencies work for.
   */
  readonly companies?: readonly string[] | number | 'all'
  /** Agency ids of an agency key, or so many of the world's first ones; 1 by default. */
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
  /** /users asks for an owner who is both. */
  readonly ownerActive?: boolean
  readonly ownerVerified?: boolean
  /** A user of the world: the visibility rules of /users follow that user's role. Without it everything in scope is seen. */
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

/** The contract names the first; the second is the sandbox's name for the scope an invoice's file needs. */
export type WriteScope = 'write:workers' | 'write:invoices'

export const COMPANY_KEY = 'sandbox-company-key'
export const AGENCY_KEY = 'sandbox-agency-key'
export const FINANCE_KEY = 'sandbox-finance-key'

/** One for each way of being let in, or not. Not secrets: they open nothing but generated data on this machine. */
export const defaultKeys: readonly (ApiKey & { readonly description: string })[] = [
  {
    key: COMPANY_KEY,
    kind: 'company',
    name: 'Sandbox company key',
    description: 'reads every company',
  },
  {
    key: AGENCY_KEY,
    kind: 'agency',
    name: 'Sandbox agency key',
    scopes: [...readScopes, 'write:workers', 'write:invoices'],
    description: 'reads the records of one agency, writes its workers',
  },
  {
    key: FINANCE_KEY,
    kind: 'company',
    name: 'Sandbox finance key',
    scopes: ['read:companies', 'read:invoices', 'write:invoices'],
    description: 'reads invoices, uploads their payments',
  },
  {
    key: 'sandbox-one-company-key',
    kind: 'company',
    name: 'Sandbox key of one company',
    companies: 1,
    description: 'reads one company: the others are 403 where named, 404 where read by id',
  },
  {
    key: 'sandbox-agencies-key',
    kind: 'agency',
    name: 'Sandbox key of three agencies',
    scopes: [...readScopes, 'write:workers'],
    agencies: 3,
    description: 'reads the records of three agencies, which workers and uploads must name in agency',
  },
  {
    key: 'sandbox-companies-only-key',
    kind: 'company',
    name: 'Sandbox key with one scope',
    scopes: ['read:companies'],
    description: 'has the scope read:companies only: 403 elsewhere',
  },
  {
    key: 'sandbox-no-users-key',
    kind: 'company',
    name: 'Sandbox key without users',
    scopes: readScopes.filter(scope => scope !== 'read:users'),
    description: 'has every read scope but read:users',
  },
  {
    key: 'sandbox-loopback-key',
    kind: 'company',
    name: 'Sandbox key for loopback',
    ipAllowlist: ['127.0.0.0/8', '::1'],
    expiresAt: '2099-12-31T00:00:00.000Z',
    description: 'is allowed from this machine, with an allowlist and an expiry to look at in /me',
  },
  {
    key: 'sandbox-elsewhere-key',
    kind: 'company',
    name: 'Sandbox key for elsewhere',
    ipAllowlist: ['192.0.2.0/24', '198.51.100.7'],
    description: 'is allowed from other addresses only: always 403',
  },
  {
    key: 'sandbox-expired-key',
    kind: 'company',
    name: 'Sandbox expired key',
    expiresAt: '2020-01-01T00:00:00.000Z',
    description: 'has expired: always 401',
  },
  {
    key: 'sandbox-revoked-key',
    kind: 'company',
    name: 'Sandbox revoked key',
    revoked: true,
    description: 'was revoked: always 401',
  },
  {
    key: 'sandbox-inactive-owner-key',
    kind: 'company',
    name: 'Sandbox key of an inactive owner',
    ownerActive: false,
    description: 'belongs to an inactive owner: 403 at /users',
  },
  {
    key: 'sandbox-unverified-owner-key',
    kind: 'company',
    name: 'Sandbox key of an unverified owner',
    ownerVerified: false,
    description: 'belongs to an owner who is not verified: 403 at /users',
  },
]

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
