/** What the gate leaves of a page: blocked fields are gone, hashed ones are keyed hashes, and every other byte is the same. */
import { expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { faultOf, matcherOf } from '../../src/contract/derived/field-rules.ts'
import { gatedBody, gateOf } from '../../src/privacy/fields/gate.ts'
import { FieldPolicy } from '../../src/privacy/fields/policy.ts'
import { jsonTree } from '../../src/privacy/record/json-tree.ts'

const policyOf = (rules: Readonly<Record<string, 'block' | 'hash'>>, key = 'k'.repeat(16)): FieldPolicy =>
  new FieldPolicy({
    rules: Object.entries(rules).map(([pattern, treatment]) => ({ pattern, treatment })),
    key,
  })

function gated(
  rules: Readonly<Record<string, 'block' | 'hash'>>,
  resource: string,
  record: unknown,
): unknown {
  const bytes = Buffer.from(JSON.stringify({ success: true, data: [record], meta: { page: 1 } }))
  const page = gateOf(policyOf(rules))(bytes, { resource, isById: false } as never)
  return (JSON.parse(page.toString()) as { data: unknown[] }).data[0]
}

test('a blocked object leaves nothing but null, and its neighbours stay', () => {
  const record = { id: 'C1', finance: { vat: 'GB1', later: ['x'] }, name: 'Acme' }
  expect(gated({ 'companies.finance': 'block' }, 'companies', record)).toEqual({
    ...record,
    finance: null,
  })
})

test('a pattern reaches any depth and undeclared fields, in lists as well', () => {
  const record = { id: 'T1', odd: [{ email: 'A@x.example' }, { email: 'a@x.example ' }], emails: 1 }
  const { odd, emails } = gated({ '*.email': 'hash' }, 'timesheets', record) as {
    odd: { email: string }[]
    emails: number
  }
  expect(odd[0]?.email).toMatch(/^hmac-[0-9a-f]{6}-[0-9a-f]{32}$/)
  expect(odd[1]?.email).toBe(odd[0]?.email)
  expect(emails).toBe(1)
})

test('a hash is equal in all resources, differs by key, and is not hashed again', () => {
  const hash = (resource: string, record: object, key?: string): unknown => {
    const bytes = Buffer.from(JSON.stringify({ data: [record] }))
    return JSON.parse(gateOf(policyOf({ '*.email': 'hash' }, key))(bytes, { resource } as never).toString())
      .data[0].email
  }
  const once = hash('users', { id: 'U1', email: 'ann@x.example' })
  expect(hash('sites', { id: 'S1', email: 'ann@x.example' })).toBe(once)
  expect(hash('users', { id: 'U1', email: once })).toBe(once)
  expect(hash('users', { id: 'U1', email: 'ann@x.example' }, 'another key of 16')).not.toBe(once)
})

test('a field whose column cannot store a hash is blocked instead', () => {
  expect(gated({ 'companies.projectCount': 'hash' }, 'companies', { id: 'C1', projectCount: 7 })).toEqual({
    id: 'C1',
    projectCount: null,
  })
})

test('a pattern leaves keys that the model needs', () => {
  const record = { id: 'T1', worker: { id: 'W1', name: 'Ann', other: 1 } }
  expect(gated({ 'timesheets.worker.*': 'block' }, 'timesheets', record)).toEqual({
    id: 'T1',
    worker: { id: 'W1', name: null, other: null },
  })
  expect(gated({ 'timesheets.*': 'block' }, 'timesheets', record)).toMatchObject({
    id: 'T1',
    worker: { id: 'W1' },
  })
})

test('block wins over hash', () => {
  const rules = { '*.email': 'hash', 'users.email': 'block' } as const
  expect(gated(rules, 'users', { id: 'U1', email: 'a@x.example' })).toEqual({ id: 'U1', email: null })
})

test.each([
  ['data is no list', { data: { finance: { vat: 'secret' } } }],
  ['a record is in a list of its own', { data: [[{ finance: { vat: 'secret' } }]] }],
  ['a record is a text', { data: ['secret'] }],
  ['the record is beside data', { data: [], more: [{ x: { finance: 'secret' } }] }],
  ['the key comes twice', '{"data":[{"id":"1","finance":"secret","finance":{"vat":"secret"}}]}'],
  ['the key is escaped', '{"data":[{"id":"1","fin\\u0061nce":"secret"}]}'],
  ['the page is cut', '{"data":[{"id":"1","finance":"secret"'],
  ['a comma is missing', '{"data":[{"id":"1" "finance":"secret"}]}'],
  ['a value is missing', '{"data":[{"id" "x": "finance":"secret"}]}'],
])('nothing blocked is left of a page where %s', (_, page) => {
  const bytes = Buffer.from(typeof page === 'string' ? page : JSON.stringify(page))
  const rest = gateOf(policyOf({ 'companies.finance': 'block' }))(bytes, { resource: 'companies' } as never)
  expect(rest.toString()).not.toContain('secret')
})

test('without rules a page is the same buffer', () => {
  const bytes = Buffer.from('{"data":[{"id":"1","finance":"x"}]}')
  expect(gateOf(policyOf({}))(bytes, { resource: 'companies' } as never)).toBe(bytes)
  expect(gateOf(policyOf({ 'users.email': 'block' }))(bytes, { resource: 'companies' } as never)).toBe(bytes)
})

test('the body of an event follows the rules of every resource at any depth', () => {
  const body = JSON.stringify({ type: 'x', data: { thing: { finance: { vat: 'secret' } } } })
  expect(gatedBody(policyOf({ 'companies.finance': 'block' }), body)).not.toContain('secret')
  expect(gatedBody(policyOf({ 'companies.finance': 'block' }), 'not JSON secret')).toBe('{}')
})

test.each([
  ['companies.finance', 'companies.finance', true],
  ['companies.finance', 'companies.finances', false],
  ['*.email', 'users.email', true],
  ['*.email', 'requisitions.requestor.email', true],
  ['*.email', 'users.emails', false],
  ['companies.*.email', 'companies.email', true],
  ['companies.finance.*', 'companies.finance', false],
  ['companies.finance.*', 'companies.finance.vat', true],
  ['users.e*l', 'users.email', true],
  ['users.e*l', 'users.e.l', false],
])('%s and %s: %s', (pattern, path, isMatch) => {
  expect(matcherOf(pattern)(path)).toBe(isMatch)
})

test.each([
  ['companies.finance', 'block', undefined],
  ['companies.config.anything', 'block', undefined],
  ['companies.newField*', 'block', undefined],
  ['*.email', 'hash', undefined],
  ['companies.financ', 'block', 'companies have no field financ, did you mean finance?'],
  ['companies.financeEmail', 'block', 'have no field financeEmail, did you mean finance.financeEmail?'],
  ['companys.finance', 'block', 'there is no resource companys, did you mean companies?'],
  ['*.emial', 'hash', 'no resource has field emial, did you mean email?'],
  ['users.id', 'hash', 'users.id cannot be hashed: it is the key of star.dim_user'],
  ['timesheets.worker', 'block', 'timesheets.worker cannot be blocked as a whole: it has worker.id'],
  ['users.updatedAt', 'block', 'users.updatedAt cannot be blocked: scans find changes by it'],
  ['assignments.umbrella', 'block', 'umbrella_id is made of it'],
] as const)('the rule %s: %s', (pattern, treatment, fault) => {
  const found = faultOf({ pattern, treatment })
  if (fault === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(fault)
})

test('no field of any resource is needed without a reason, and every id is', () => {
  for (const { name } of catalogue.filter(({ table }) => table.columns[table.key]?.source.from === 'field'))
    expect(faultOf({ pattern: `${name}.id`, treatment: 'block' })).toMatch(/cannot be blocked/)
})

test.each([
  '{"a" 1}',
  '{"a":1,}',
  '{,}',
  '[1 2]',
  '[1,]',
  '{1:2}',
  '{"a":}',
  '{"a"}',
  '[}',
  '1 2',
  '',
  '{"a":1}}',
])('%s is not JSON', text => {
  expect(jsonTree(Buffer.from(text))).toBeUndefined()
})

test.each(['{}', '[]', '{"a":[],"b":{"c":null}}', ' [ 1 , "x" ] ', '"x"', '{"a":1,"a":2}'])(
  '%s is JSON',
  text => {
    expect(jsonTree(Buffer.from(text))).toBeDefined()
  },
)
