/** Who is refused what: keys, scopes, companies, methods, routes. */
import { describe, expect, it } from 'vitest'
import { seedOf } from '../../../src/sandbox/data/draw.ts'
import { makeCompanies } from '../../../src/sandbox/data/master/companies.ts'
import { endpoints } from '../../../src/sandbox/endpoints/endpoints.ts'
import { defaultKeys, sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { type ApiKey, readScopes } from '../../../src/sandbox/keys/keys.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const [companyKey, agencyKey] = defaultKeys as readonly [ApiKey, ApiKey]
const seed = seedOf({ seed: 1, scale: 1, today: '2026-11-02' })
const companies = makeCompanies(seed).map(company => company.id)
const keys: ApiKey[] = [
  companyKey,
  agencyKey,
  { ...companyKey, key: 'one-company', companies: [companies[0] as string] },
  { ...companyKey, key: 'revoked', revoked: true },
  { ...companyKey, key: 'expired', expiresAt: '2020-01-01T00:00:00.000Z' },
  { ...companyKey, key: 'elsewhere', ipAllowlist: ['10.0.0.0/8', '192.168.1.7'] },
  { ...companyKey, key: 'here', ipAllowlist: ['127.0.0.0/8'], expiresAt: '2999-01-01T00:00:00.000Z' },
  { ...companyKey, key: 'idle-owner', ownerActive: false },
  ...readScopes.map(scope => ({
    ...companyKey,
    key: `no-${scope}`,
    scopes: readScopes.filter(other => other !== scope),
  })),
]
const sandbox = await openSandbox({ keys, provokesViolations: true })
const reads = endpoints.filter(({ method }) => method === 'GET')
const paths = reads.map(({ path }) => path.replace(':id', companies[0] as string))

describe('keys', () => {
  it.each(['', 'nonsense', 'revoked', 'expired'])('answers 401 to %j', async key => {
    const { status, body } = await sandbox.get('/me', key)
    expect(status).toBe(401)
    expect(body).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } })
  })

  it('refuses addresses outside the allowlist', async () => {
    expect((await sandbox.get('/me', 'elsewhere')).status).toBe(403)
    const here = await sandbox.get('/me', 'here')
    expect(here.status).toBe(200)
    expect(here.body.data).toMatchObject({
      ipAllowlist: ['127.0.0.0/8'],
      expiresAt: '2999-01-01T00:00:00.000Z',
    })
  })

  it('describes the key at /me', async () => {
    const company = (await sandbox.get('/me')).body.data
    expect(company.companies).toHaveLength(3)
    expect(company).toMatchObject({ scopes: [...readScopes], rateLimitPerDay: 50_000 })
    const agency = (await sandbox.get('/me', sandboxKeys.agency)).body.data
    expect(agency.agencies).toEqual([{ id: expect.any(String), name: expect.any(String) }])
    expect(agency.companies).toBeUndefined()
    expect(agency.lastUsedAt).toBeUndefined()
    expect((await sandbox.get('/me', sandboxKeys.agency)).body.data.lastUsedAt).toMatch(/Z$/)
  })
})

it('refuses a key without the scope of the endpoint', async () => {
  for (const { path, ...rule } of reads) {
    if (rule.scope === undefined) continue
    const url = path.replace(':id', companies[0] as string)
    expect((await sandbox.get(url, `no-${rule.scope}`)).status, path).toBe(403)
    expect([200, 404], path).toContain((await sandbox.get(url)).status)
  }
})

it('answers 403 to agency keys at endpoints of company keys', async () => {
  const open = ['/me', '/users', '/timesheets', '/expenses', '/invoices']
  const byId = [
    '/sites/',
    '/expenses/',
    '/trades/',
    '/rates/',
    '/requisitions/',
    '/assignments/',
    '/credit-notes/',
  ]
  for (const path of open) expect((await sandbox.get(path, sandboxKeys.agency)).status, path).toBe(200)
  const isRead = (path: string) => byId.some(start => path === start + companies[0])
  for (const path of paths.filter(isRead))
    expect((await sandbox.get(path, sandboxKeys.agency)).status, path).toBe(404)
  const closed = paths.filter(path => !open.includes(path) && !isRead(path))
  for (const path of closed) expect((await sandbox.get(path, sandboxKeys.agency)).status, path).toBe(403)
})

describe('companies of a key', () => {
  it.each([
    '/projects',
    '/sites',
    '/timesheets',
    '/expenses',
    '/invoices',
    '/requisitions/recruitment-metrics',
  ])('limit %s', async path => {
    const total = async (query: string, key = sandboxKeys.company) =>
      (await sandbox.get(path + query, key)).body.meta.total
    const first = await total(`?company=${companies[0]}`)
    expect(await total('', 'one-company')).toBe(first)
    expect(await total(`?company=${companies[0]},${companies[1]}`)).toBe(
      first + (await total(`?company=${companies[1]}`)),
    )
    expect((await sandbox.get(`${path}?company=${companies[1]}`, 'one-company')).status).toBe(403)
    expect((await sandbox.get(`${path}?company=nobody`)).status).toBe(403)
  })

  it('decide which company may be read', async () => {
    expect((await sandbox.get(`/companies/${companies[1]}`, 'one-company')).status).toBe(403)
    expect((await sandbox.get(`/companies/${companies[1]}/user-permissions`, 'one-company')).status).toBe(404)
    expect((await sandbox.get('/companies/ffffffffffffffffffffffff')).status).toBe(404)
    expect((await sandbox.get('/companies/not%20an%20id')).status).toBe(400)
    expect((await sandbox.get('/companies', 'one-company')).body.meta.total).toBe(1)
  })

  it('hide the projects and sites of others', async () => {
    const foreign = (path: 'projects' | 'sites') =>
      sandbox.world.all(path).find(record => (record.company as Body).id === companies[1])?.id
    expect((await sandbox.get(`/projects/${foreign('projects')}`, 'one-company')).status).toBe(404)
    expect((await sandbox.get(`/sites/${foreign('sites')}`, 'one-company')).status).toBe(404)
  })
})

it('shows an agency only its own records', async () => {
  const agency = sandbox.world.all('agencies')[0]?.id
  for (const path of ['/timesheets', '/expenses', '/invoices'] as const) {
    const { body } = await sandbox.get(`${path}?limit=200`, sandboxKeys.agency)
    expect(body.data.length).toBeGreaterThan(0)
    expect(body.data.every((row: Body) => row.agency.id === agency)).toBe(true)
    expect(body.data.some((row: Body) => row.invoiceType === 'mspToClient')).toBe(false)
    const linked = body.data[0].company.id
    expect((await sandbox.get(`${path}?company=${linked}`, sandboxKeys.agency)).status).toBe(200)
    expect((await sandbox.get(`${path}?company=nobody`, sandboxKeys.agency)).status).toBe(403)
  }
  const foreign = sandbox.world.all('expenses').find(expense => (expense.agency as Body).id !== agency)
  expect((await sandbox.get(`/expenses/${foreign?.id}`, sandboxKeys.agency)).status).toBe(404)
})

it('answers 405 to other methods and 404 to other routes', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
    const { status, headers } = await sandbox.send(method, '/timesheets')
    expect(status, method).toBe(405)
    expect(headers.get('allow')).toBe('GET')
  }
  const { status, body } = await sandbox.get('/nothing')
  expect(status).toBe(404)
  expect(body.error.code).toBe('NOT_FOUND')
  expect((await sandbox.send('POST', '/nothing')).status).toBe(404)
})

it('refuses /users to a key whose owner is not active and verified', async () => {
  expect((await sandbox.get('/users', 'idle-owner')).status).toBe(403)
  expect((await sandbox.get('/projects', 'idle-owner')).status).toBe(200)
})
