/** Checks of the API key: its kind, limits, expiry, allowed addresses and scopes. */

import type { KeyInfo } from '../../api/client/key.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { dayMs } from '../../lib/dates.ts'
import { type Finding, ok, warn } from './finding.ts'

/** Time enough to ask somebody for a new key. */
const noticeDays = 14

function identity(key: KeyInfo): Finding {
  const reach = [
    counted(key.companies?.length ?? 0, 'company', 'companies'),
    ...(key.agencies ? [counted(key.agencies.length, 'agency', 'agencies')] : []),
  ]
  return ok('key', `${key.kind} key ${key.name || 'without a name'}, ${reach.join(', ')}`)
}

function limits(key: KeyInfo): Finding {
  const found = `${formatNumber(key.rateLimitPerMinute)} a minute, ${formatNumber(key.rateLimitPerDay)} a day`
  const { remainingToday } = key.usage
  if (remainingToday === undefined) return ok('limits', found)
  const left = `${found}, ${formatNumber(remainingToday)} left today`
  return remainingToday === 0 ? warn('limits', left, 'a sync can only start tomorrow') : ok('limits', left)
}

function expiry({ expiresAt }: KeyInfo, nowMs: number): Finding {
  if (expiresAt === undefined) return ok('expiry', 'the key does not expire, as far as the service says')
  const days = Math.floor((Date.parse(expiresAt) - nowMs) / dayMs)
  if (Number.isNaN(days))
    return warn('expiry', `${expiresAt} is not a time`, 'check the key where it was created')
  if (days >= noticeDays) return ok('expiry', expiresAt)
  return warn('expiry', `${expiresAt}, in ${counted(days, 'day')}`, 'ask for a new key now')
}

function allowlist({ ipAllowlist }: KeyInfo): Finding {
  const count = ipAllowlist?.length ?? 0
  if (count === 0) return ok('addresses', 'the key works from any address')
  return ok('addresses', `the key works from ${counted(count, 'address or range', 'addresses or ranges')}`)
}

function scopes({ scopes: held }: KeyInfo): Finding {
  const writing = held.filter(scope => scope.startsWith('write'))
  if (writing.length === 0) return ok('scopes', counted(held.length, 'scope to read', 'scopes to read'))
  return warn('scopes', writing.join(', '), 'a sync needs no scope to write: use a key without them')
}

export function keyFindings(key: KeyInfo, nowMs: number): Finding[] {
  return [identity(key), limits(key), expiry(key, nowMs), allowlist(key), scopes(key)]
}
