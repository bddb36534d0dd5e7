/** Declares the default keys of a sandbox. */
import { type ApiKey, readScopes } from './keys.ts'

/** The keys for everyday use. Not secrets: they open nothing but generated data on this machine. */
export const sandboxKeys = {
  company: 'sandbox-company-key',
  agency: 'sandbox-agency-key',
  finance: 'sandbox-finance-key',
}

type DescribedKey = ApiKey & { readonly description: string }
type KeyRights = Omit<DescribedKey, 'key' | 'kind' | 'name'>

const companyKey = (key: string, name: string, reach: KeyRights): DescribedKey => ({
  ...{ key, kind: 'company', name },
  ...reach,
})
const agencyKey = (key: string, name: string, reach: KeyRights): DescribedKey => ({
  ...companyKey(key, name, reach),
  kind: 'agency',
})

/** One key for each way of being admitted or refused. */
export const defaultKeys: readonly DescribedKey[] = [
  companyKey(sandboxKeys.company, 'Sandbox company key', {
    description: 'reads every company',
  }),
  agencyKey(sandboxKeys.agency, 'Sandbox agency key', {
    scopes: [...readScopes, 'write:workers', 'write:invoices'],
    description: 'reads the records of one agency, writes its workers',
  }),
  companyKey(sandboxKeys.finance, 'Sandbox finance key', {
    scopes: ['read:companies', 'read:invoices', 'write:invoices'],
    description: 'reads invoices, uploads their payments',
  }),
  companyKey('sandbox-one-company-key', 'Sandbox key of one company', {
    companies: 1,
    description: 'reads one company: the others are 403 where named, 404 where read by id',
  }),
  agencyKey('sandbox-agencies-key', 'Sandbox key of three agencies', {
    scopes: [...readScopes, 'write:workers'],
    agencies: 3,
    description: 'reads the records of three agencies, which workers and uploads must name in agency',
  }),
  companyKey('sandbox-companies-only-key', 'Sandbox key with one scope', {
    scopes: ['read:companies'],
    description: 'has the scope read:companies only: 403 elsewhere',
  }),
  companyKey('sandbox-no-users-key', 'Sandbox key without users', {
    scopes: readScopes.filter(scope => scope !== 'read:users'),
    description: 'has every read scope but read:users',
  }),
  companyKey('sandbox-loopback-key', 'Sandbox key for loopback', {
    ipAllowlist: ['127.0.0.0/8', '::1'],
    expiresAt: '2099-12-31T00:00:00.000Z',
    description: 'is allowed from this machine, with an allowlist and an expiry to look at in /me',
  }),
  companyKey('sandbox-elsewhere-key', 'Sandbox key for elsewhere', {
    ipAllowlist: ['192.0.2.0/24', '198.51.100.7'],
    description: 'is allowed from other addresses only: always 403',
  }),
  companyKey('sandbox-expired-key', 'Sandbox expired key', {
    expiresAt: '2020-01-01T00:00:00.000Z',
    description: 'has expired: always 401',
  }),
  companyKey('sandbox-revoked-key', 'Sandbox revoked key', {
    revoked: true,
    description: 'was revoked: always 401',
  }),
  companyKey('sandbox-inactive-owner-key', 'Sandbox key of an inactive owner', {
    ownerActive: false,
    description: 'belongs to an inactive owner: 403 at /users',
  }),
  companyKey('sandbox-unverified-owner-key', 'Sandbox key of an unverified owner', {
    ownerVerified: false,
    description: 'belongs to an owner who is not verified: 403 at /users',
  }),
]
