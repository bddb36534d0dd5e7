/** Defines API keys and their access, and refuses callers before any record is read. */
import { BlockList, isIPv6 } from 'node:net'
import { demand } from '../refusals.ts'
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
  /** /users needs an owner who is active and verified. */
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
type KeyScope = (typeof readScopes)[number] | 'write:workers' | 'write:invoices'

export function bearerKey(authorization: string | undefined): string | undefined {
  return /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
}

/** A key in the world that it sees. */
export interface KeyInWorld {
  readonly key: ApiKey
  readonly world: World
}

interface Caller {
  readonly authorization: string | undefined
  readonly address: string
  readonly nowMs: number
}

export function authenticate(keys: readonly ApiKey[], caller: Caller): ApiKey {
  const text = bearerKey(caller.authorization)
  demand(text !== undefined, 'missing API key', 401)
  const key = keys.find(candidate => candidate.key === text)
  demand(key, 'invalid API key', 401)
  demand(!key.revoked, 'revoked API key', 401)
  const { expiresAt, ipAllowlist } = key
  demand(expiresAt === undefined || caller.nowMs < Date.parse(expiresAt), 'expired API key', 401)
  demand(!ipAllowlist || isAllowed(ipAllowlist, caller.address), 'IP address not allowed', 403)
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

/**
 * The contract shows part of its scope mapping only. Each endpoint declares the sandbox's reading of the rest: records
 * without a scope of their own take the scope of the record that they belong to (decision 025).
 */
export interface Access {
  /** Keys of the other kind are answered 403. */
  readonly keys?: ApiKey['kind']
  readonly scope?: KeyScope
  /** Whether the owner of the key must be active and verified. */
  readonly activeOwner?: true
}

export function checkAccess(key: ApiKey, { keys = key.kind, scope, activeOwner }: Access): void {
  demand(key.kind === keys, `${key.kind}-scoped keys cannot use this endpoint`, 403)
  if (scope) requireScope(key, scope)
  const isOwned = key.ownerActive !== false && key.ownerVerified !== false
  demand(!activeOwner || isOwned, 'the key owner is inactive or unverified', 403)
}

export function requireScope(key: ApiKey, scope: KeyScope): void {
  demand((key.scopes ?? readScopes).includes(scope), `missing scope ${scope}`, 403)
}
