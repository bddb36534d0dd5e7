/** Serves GET /me: the key, its access and its use today. */
import { key as declared } from '../../contract/resources/key.ts'
import { endpoint } from '../declare/endpoint.ts'
import { recordOf } from '../declare/schemas.ts'
import { agenciesOf, companiesOf, readScopes } from '../keys/keys.ts'
import type { StoredRecord } from '../record.ts'

const always = ['name', 'scopes', 'rateLimitPerMinute', 'rateLimitPerDay', 'createdAt', 'usage']

export const me = endpoint({
  path: '/me',
  operationId: 'getKey',
  summary: 'The API key: its scopes, limits, use and reach.',
  returns: recordOf('Key', declared, always),
  parameters: {},
  answer: ({ key, world, limits, usage, lastUsedAt }) => {
    const companies = companiesOf(key, world)
    const agencies = agenciesOf(key, world)
    return {
      data: {
        name: key.name ?? key.key,
        description: key.description ?? '',
        scopes: key.scopes ?? readScopes,
        rateLimitPerMinute: limits.perMinute,
        rateLimitPerDay: limits.perDay,
        ...(key.ipAllowlist ? { ipAllowlist: key.ipAllowlist } : {}),
        ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt }),
        ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
        createdAt: key.createdAt ?? '2025-01-06T09:00:00.000Z',
        usage,
        ...(key.kind === 'company'
          ? { companies: refs(world.all('companies'), companies) }
          : { agencies: refs(world.all('agencies'), agencies) }),
      },
    }
  },
})

function refs(records: readonly StoredRecord[], ids: readonly string[] | 'all') {
  return records
    .filter(record => ids === 'all' || ids.includes(String(record.id)))
    .map(record => ({ id: record.id, name: record.name }))
}
