/** The API key itself: what it may read and how fast. */
import {
  integer,
  json,
  keyOf,
  named,
  ofRoot,
  ordinal,
  restricted,
  scope,
  text,
  timestamp,
  volatile,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { bridge, dimension, each, eachValue } from '../fields/table.ts'

const scopeOf = (thing: 'company' | 'agency') =>
  bridge(`api_key_${thing}`, `One row per ${thing} that the key may read.`, {
    [`api_key_${thing}_key`]: keyOf('api_key_id', 'scope_ordinal'),
    api_key_id: ofRoot('api_key_id'),
    scope_ordinal: ordinal(),
    [`${thing}_id`]: named('', thing),
  })

export const key = resource({
  name: 'key',
  entity: 'api_key',
  description: 'The API key: its scopes, limits and reach.',
  path: '/me',
  read: { strategy: 'snapshot', per: 'key', rows: 'data as one record' },
  table: dimension('api_key', 'One row per API key that has synced into this warehouse.', {
    api_key_id: { ...scope('api_key_id', 'First 16 hex digits of the SHA-256 of the key.'), required: true },
    name: text('name', 'Name.'),
    description: text('description', 'Description.'),
    rate_limit_per_minute: integer('rateLimitPerMinute', 'Requests that the key may send a minute.'),
    rate_limit_per_day: integer('rateLimitPerDay', 'Requests that the key may send a UTC day.'),
    ip_allowlist: restricted(json('ipAllowlist', 'Addresses that may use the key.')),
    expires_at: timestamp('expiresAt', 'When it expires.'),
    created_at: timestamp('createdAt', 'When it was created.'),
    last_used_at: volatile(
      timestamp('lastUsedAt', 'When it was last used, as of the last change of this row.'),
    ),
    requests_today: volatile(
      integer('usage.requestsToday', 'Requests of the UTC day, as of the last change of this row.'),
    ),
    remaining_today: volatile(
      integer('usage.remainingToday', 'Requests left that day, as of the last change of this row.'),
    ),
    resets_at: volatile(timestamp('usage.resetsAt', 'When the day ends, as of the last change of this row.')),
    scopes: eachValue(
      'scopes',
      bridge('api_key_scope', 'One row per scope that the key holds.', {
        api_key_scope_key: keyOf('api_key_id', 'scope_ordinal'),
        api_key_id: ofRoot('api_key_id'),
        scope_ordinal: ordinal(),
        scope: text('', 'Scope, such as read:invoices.'),
      }),
    ),
    companies: each('companies', scopeOf('company')),
    agencies: each('agencies', scopeOf('agency')),
  }),
})
