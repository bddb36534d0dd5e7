/** GET /users: membership filters, visibility by key kind and by the role of the key's owner. */
import { expect, it } from 'vitest'
import type { ApiKey } from '../../../src/sandbox/keys/keys.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const user = (id: string, role: string, memberships: object) => ({
  id,
  name: `User ${id}`,
  email: `${id}@example.com`,
  jobTitle: 'Manager',
  role,
  companies: [],
  projects: [],
  agencies: [],
  ...memberships,
})

const users = [
  user('admin', 'companyAdmin', { companies: ['c1', 'c2'] }),
  user('pa', 'projectAdmin', { companies: ['c1'], projects: ['p1'] }),
  user('pr', 'projectRequestor', { companies: ['c1'], projects: ['p1', 'p2'] }),
  user('pf', 'projectFinance', { companies: ['c2'], projects: ['p3'], active: false }),
  user('la', 'ldAdmin', { agencies: ['a1'] }),
  user('lu', 'ldUser', { agencies: ['a1', 'a2'] }),
  user('other', 'ldUser', { agencies: ['a2'] }),
]
const records = {
  users,
  companies: [
    { id: 'c1', name: 'One' },
    { id: 'c2', name: 'Two' },
  ],
  projects: [
    { id: 'p1', name: 'P1', company: { id: 'c1' } },
    { id: 'p2', name: 'P2', company: { id: 'c1' } },
    { id: 'p3', name: 'P3', company: { id: 'c2' } },
  ],
  agencies: [
    { id: 'a1', name: 'A' },
    { id: 'a2', name: 'B' },
  ],
}
const keys: ApiKey[] = [
  { key: 'all', kind: 'company' },
  { key: 'c1', kind: 'company', companies: ['c1'] },
  { key: 'agency', kind: 'agency', agencies: ['a1'] },
  { key: 'owned-by-pa', kind: 'company', ownerId: 'pa' },
  { key: 'owned-by-pr', kind: 'company', ownerId: 'pr' },
  { key: 'owned-by-lu', kind: 'agency', agencies: ['a1'], ownerId: 'lu' },
  { key: 'owned-by-pf', kind: 'company', ownerId: 'pf' },
]
const sandbox = await openSandbox({ records, keys, provokesViolations: true })
const ids = async (query: string, key = 'all') =>
  (await sandbox.get(`/users${query}`, key)).body.data.map((row: Body) => row.id).sort()

it('lists hirers to company keys and suppliers to agency keys', async () => {
  expect(await ids('')).toEqual(['admin', 'pa', 'pf', 'pr'])
  expect(await ids('', 'c1')).toEqual(['admin', 'pa', 'pr'])
  expect(await ids('', 'agency')).toEqual(['la', 'lu'])
})

it('shows only memberships within the scope of the key', async () => {
  const admin = (await sandbox.get('/users?query=admin@', 'c1')).body.data[0]
  expect(admin.companies).toEqual(['c1'])
  const staff = (await sandbox.get('/users?role=ldUser', 'agency')).body.data[0]
  expect(staff.agencies).toEqual(['a1'])
})

it('matches company and project together', async () => {
  expect(await ids('?company=c2')).toEqual(['admin', 'pf'])
  expect(await ids('?project=p1,p3')).toEqual(['pa', 'pf', 'pr'])
  expect(await ids('?company=c1&project=p1,p3')).toEqual(['pa', 'pr'])
  expect(await ids('?agency=a1', 'agency')).toEqual(['la', 'lu'])
})

it('refuses filters that do not fit the kind of key, and records out of its scope', async () => {
  const status = async (query: string, key: string) => (await sandbox.get(`/users${query}`, key)).status
  expect(await status('?agency=a1', 'all')).toBe(400)
  expect(await status('?company=c1', 'agency')).toBe(400)
  expect(await status('?project=p1', 'agency')).toBe(400)
  expect(await status('?company=c2', 'c1')).toBe(404)
  expect(await status('?project=p3', 'c1')).toBe(404)
  expect(await status('?agency=a2', 'agency')).toBe(404)
  expect(await status('?role=boss', 'all')).toBe(400)
})

it('follows the role of the owner', async () => {
  expect(await ids('', 'owned-by-pa')).toEqual(['pa', 'pr'])
  expect(await ids('', 'owned-by-pr')).toEqual(['pr'])
  expect(await ids('', 'owned-by-lu')).toEqual(['lu'])
  expect((await sandbox.get('/users', 'owned-by-pf')).status).toBe(403)
})

it('counts a user as active unless it is inactive', async () => {
  expect(await ids('?status=active')).toEqual(['admin', 'pa', 'pr'])
  expect(await ids('?status=inactive')).toEqual(['pf'])
})
