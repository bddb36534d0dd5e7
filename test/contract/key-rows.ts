/** What the contract says of keys: who is let in, from where, and with which scopes. */
import { expect } from 'vitest'
import { expectRefusal, type Row } from './row.ts'
import { agencies, companies, type KeyName, type Stand } from './stand.ts'
import { recordOf } from './targets.ts'

const refused = (key: KeyName | null, status: number) => async (stand: Stand) =>
  expectRefusal(await stand.send('GET /me', { key }), status)
const admitted = (key: KeyName, more: object) => async (stand: Stand) => {
  const { status, body } = await stand.get('/me', key)
  expect([status, body.data]).toEqual([200, expect.objectContaining(more)])
}
const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id)

/** The scopes that section 5 names, and what asks for each: an operation and its noun in a refusal. */
const scopes: Readonly<Record<string, string>> = {
  'read:companies': 'GET /companies',
  'read:trades': 'GET /trades/{id}',
  'read:projects': 'GET /projects',
  'read:workers': 'GET /timesheets',
  'read:purchase-orders': 'GET /purchase-orders/{id}',
  'read:invoices': 'GET /invoices',
  'read:credit-notes': 'GET /credit-notes/{id}',
  'read:users': 'GET /users',
  'read:rates': 'GET /rates/{id}',
  'write:workers': 'POST /workers',
}

const scopeCheck = (scope: string, name: string) => async (stand: Stand) => {
  const target = name.includes('{id}') ? name.replace('{id}', recordOf(stand, name).id) : name
  const body = name.startsWith('POST') ? {} : undefined
  expectRefusal(await stand.send(target, { key: `without ${scope}`, body }), 403, scope)
  const key = name.startsWith('POST') ? 'agency' : 'company'
  expect((await stand.send(target, { key, body })).status).toBe(body ? 400 : 200)
}

const checks: Readonly<Record<string, Row['show']>> = {
  'missing key': refused(null, 401),
  'invalid key': refused('no such key' as KeyName, 401),
  'revoked key': refused('revoked', 401),
  'expired key': refused('expired', 401),
  'key before its expiry': admitted('not yet expired', { expiresAt: '2030-01-01T00:00:00.000Z' }),
  'allowlist of addresses': async stand => {
    await admitted('this address', { ipAllowlist: ['127.0.0.1'] })(stand)
    await refused('another address', 403)(stand)
  },
  'allowlist of CIDR ranges': async stand => {
    await admitted('this range', { ipAllowlist: ['127.0.0.0/8'] })(stand)
    await refused('another range', 403)(stand)
  },
  'company-scoped key': async stand => {
    const { data } = (await stand.get('/me', 'one company')).body
    expect([ids(data.companies), data.agencies]).toEqual([[companies[0]], undefined])
  },
  'agency-scoped key': async stand => {
    const { data } = (await stand.get('/me', 'agency')).body
    expect([ids(data.agencies), data.companies]).toEqual([[agencies[0]], undefined])
    for (const path of ['/timesheets', '/expenses', '/invoices']) {
      const rows = await stand.list(path, '', 'agency')
      expect(rows.length).toBeGreaterThan(0)
      expect(new Set(rows.map(row => row.agency.id))).toEqual(new Set([agencies[0]]))
    }
  },
  'key of several agencies': async stand => {
    expect(ids((await stand.get('/me', 'several agencies')).body.data.agencies)).toEqual(agencies.slice(0, 2))
  },
  '/me without scopes': admitted('company without scopes', { scopes: [] }),
  ...Object.fromEntries(
    Object.entries(scopes).map(([scope, name]) => [`scope ${scope}`, scopeCheck(scope, name)]),
  ),
}

export const keyRows: readonly Row[] = Object.entries(checks).map(([what, show]) => ({
  kind: 'key',
  what,
  where: '5',
  show,
}))
