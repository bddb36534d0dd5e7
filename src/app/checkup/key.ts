/** Checks the API key: kind, limits, expiry, allowed addresses, scopes, and the resources that it may read. */

import type { Client } from '../../api/client/client.ts'
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import { collections } from '../../contract/catalogue.ts'
import type { Collection } from '../../contract/fields/resource.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import { type CheckupFinding, failed, ok, warn } from './finding.ts'

/** Enough time to ask for a new key. */
const noticeDays = 14

function identity(key: KeyInfo): CheckupFinding {
  const reach = [
    counted(key.companies?.length ?? 0, 'company', 'companies'),
    ...(key.agencies ? [counted(key.agencies.length, 'agency', 'agencies')] : []),
  ]
  return ok('key', `${key.kind} key ${key.name || 'without a name'}, ${reach.join(', ')}`)
}

function limits(key: KeyInfo): CheckupFinding {
  const limitText = (limit: number, isAssumed = false): string =>
    isAssumed ? `not reported, assumed to be ${formatNumber(limit)}` : formatNumber(limit)
  const { perMinute, perDay } = key.isAssumed ?? {}
  const found = `${limitText(key.rateLimitPerMinute, perMinute)} a minute, ${limitText(key.rateLimitPerDay, perDay)} a day`
  const { remainingToday } = key.usage
  if (remainingToday === undefined) return ok('limits', found)
  const left = `${found}, ${formatNumber(remainingToday)} left today`
  return remainingToday === 0 ? warn('limits', left, 'a sync can only start tomorrow') : ok('limits', left)
}

function expiry({ expiresAt }: KeyInfo, nowMs: number): CheckupFinding {
  if (expiresAt === undefined) return ok('expiry', 'the service reports no expiry')
  const days = Math.floor((Date.parse(expiresAt) - nowMs) / dayMs)
  if (Number.isNaN(days))
    return warn('expiry', `${expiresAt} is not a time`, 'check the key where it was created')
  if (days >= noticeDays) return ok('expiry', expiresAt)
  return warn('expiry', `${expiresAt}, in ${counted(days, 'day')}`, 'ask for a new key now')
}

function allowlist({ ipAllowlist }: KeyInfo): CheckupFinding {
  const count = ipAllowlist?.length ?? 0
  if (count === 0) return ok('addresses', 'the key works from any address')
  return ok('addresses', `the key works from ${counted(count, 'address or range', 'addresses or ranges')}`)
}

function scopes({ scopes: keyScopes }: KeyInfo): CheckupFinding {
  const writing = keyScopes.filter(scope => scope.startsWith('write'))
  if (writing.length === 0) return ok('scopes', counted(keyScopes.length, 'scope to read', 'scopes to read'))
  return warn('scopes', writing.join(', '), 'a sync needs no scope to write: use a key without them')
}

export function keyFindings(key: KeyInfo, nowMs: number): CheckupFinding[] {
  return [identity(key), limits(key), expiry(key, nowMs), allowlist(key), scopes(key)]
}

const purpose = { purpose: 'operator' } as const

/** Requests one record of the first scope; returns the size of the list, if there is one. */
async function ask(resource: Collection, client: Client, company: string): Promise<string> {
  const path = resource.path.replace('{company}', () => encodeURIComponent(company))
  const { read } = resource
  if (read.strategy === 'snapshot' && read.rows !== 'data') {
    await client.getRecord(path, resource.query, purpose)
    return 'readable'
  }
  const byCompany = read.strategy === 'snapshot' && read.per === 'companyWindow'
  const query = { ...resource.query, ...(byCompany && { company }), page: 1, limit: 1 }
  const { meta } = await client.getPage(path, query, purpose)
  const isOneRead = read.strategy === 'scan' || read.per === 'key'
  return `readable, ${counted(meta.total, 'record')}${isOneRead ? '' : ' in the first company'}`
}

async function readable(resource: Collection, client: Client, key: KeyInfo): Promise<CheckupFinding> {
  const check = `read ${resource.name}`
  const way = resource.keys[key.kind]
  if (way === 'not at all')
    return warn(
      check,
      `${key.kind} keys cannot read it`,
      'a sync skips it; another kind of key would read it',
    )
  if (way === 'by id') return ok(check, 'by id, where other records name it')
  const perCompany = resource.read.strategy === 'snapshot' && resource.read.per !== 'key'
  const company = key.companies?.[0]?.id
  if (perCompany && company === undefined)
    return warn(check, 'the key names no company', 'ask for a key with companies, if it should be read')
  try {
    return ok(check, await ask(resource, client, company ?? ''))
  } catch (error) {
    if (error instanceof AccessDenied || error instanceof NotFound)
      return warn(
        check,
        error.message,
        'a sync skips it, and fails if it has read it before; ask for the scope if it should be read',
      )
    return failed(check, error)
  }
}

/** Stops at the first failure that every further request would repeat. */
export async function resourceFindings(client: Client, key: KeyInfo): Promise<CheckupFinding[]> {
  const findings: CheckupFinding[] = []
  for (const resource of collections) {
    if (resource.name === 'key') continue
    const finding = await readable(resource, client, key)
    findings.push(finding)
    if (finding.state === 'fail') break
  }
  return findings
}
