/** The keys that a sandbox has by default. */
import { type ApiKey, readScopes } from './keys.ts'

/** The keys for everyday use. Not secrets: they open nothing but generated data on this machine. */
export const sandboxKeys = {
  company: 'sandbox-company-key',
  agency: 'sandbox-agency-key',
  finance: 'sandbox-finance-key',
}

/** One for each way of being admitted or refused. */
export const defaultKeys: readonly (ApiKey & { readonly description: string })[] = [
  {
    key: sandboxKeys.company,
    kind: 'company',
    name: 'Sandbox company key',
    description: 'reads every company',
  },
  {
    key: sandboxKeys.agency,
    kind: 'agency',
    name: 'Sandbox agency key',
    scopes: [...readScopes, 'write:workers', 'write:invoices'],
    description: 'reads the records of one agency, writes its workers',
  },
  {
    key: sandboxKeys.finance,
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
