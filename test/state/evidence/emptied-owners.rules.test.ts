/** Which companies or agencies would be left without a record of a list. */
import { expect, test } from 'vitest'
import { emptiedOwners } from '../../../src/state/evidence/emptied-owners.ts'
import { expense, ledgerBench } from '../../support/ledger-bench.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'

const bench = ledgerBench()

const ofCompany = (company: string, ...ids: readonly string[]) =>
  bench.insert('star.fact_expense', ...ids.map(id => expense(id, { company_id: company, agency_id: 'a1' })))
const emptied = (quiet: readonly string[], announced: readonly string[] = [], name = 'expenses') =>
  emptiedOwners(bench.engine, { resource: resourceOf(name), column: 'company_id' }, { quiet, announced })

test.each([
  [['r1', 'r2', 'r3'], [{ id: 'c1', records: 3 }]],
  [['r1', 'r2', 'r3', 'unknown'], [{ id: 'c1', records: 3 }]],
  [['r1', 'r2', 'other'], []],
  [['r1', 'r2'], []],
  [[], []],
])('an owner of three records is emptied when all are missing: %j', async (quiet, owners) => {
  await ofCompany('c1', 'r1', 'r2', 'r3')
  await ofCompany('c2', 'other', 'more')
  expect(await emptied(quiet)).toEqual(owners)
})

test('an owner of two records may lose them all', async () => {
  await ofCompany('c1', 'r1', 'r2')
  await ofCompany('c2', 'r3', 'r4', 'r5')
  expect(await emptied(['r1', 'r2', 'r3', 'r4'])).toEqual([])
})

test('several owners come in the order of their ids', async () => {
  await ofCompany('c2', 'r1', 'r2', 'r3', 'r4')
  await ofCompany('c1', 'r5', 'r6', 'r7')
  const quiet = [1, 2, 3, 4, 5, 6, 7].map(at => `r${at}`)
  expect(await emptied(quiet)).toEqual([
    { id: 'c1', records: 3 },
    { id: 'c2', records: 4 },
  ])
  const by = { resource: resourceOf('expenses'), column: 'agency_id' } as const
  expect(await emptiedOwners(bench.engine, by, { quiet, announced: [] })).toEqual([{ id: 'a1', records: 7 }])
})

test('records whose deletion was announced do not count on either side', async () => {
  await ofCompany('c1', 'r1', 'r2', 'r3', 'r4')
  expect(await emptied(['r1', 'r2', 'r3'], ['r4'])).toEqual([{ id: 'c1', records: 3 }])
  expect(await emptied(['r1', 'r2', 'r3', 'r4'], ['r3', 'r4'])).toEqual([])
})

test('records that are deleted, or of no owner, do not count', async () => {
  await ofCompany('c1', 'r1', 'r2', 'r3')
  await bench.insert('star.fact_expense', expense('gone', { company_id: 'c1', is_deleted: true }))
  await ofCompany('-1', 'n1', 'n2', 'n3')
  await bench.insert('star.fact_expense', ...['m1', 'm2', 'm3'].map(id => expense(id)))
  const nobodys = ['n1', 'n2', 'n3', 'm1', 'm2', 'm3']
  expect(await emptied(['r1', 'r2', 'r3', ...nobodys])).toEqual([{ id: 'c1', records: 3 }])
})

test('a list of owners beside the record counts, as far as it is not deleted', async () => {
  const user = (id: string) => ({ user_id: id, is_inferred: false, is_deleted: false })
  await bench.insert('star.dim_user', ...['u1', 'u2', 'u3', 'u4'].map(user))
  const ties = [
    ...['u1', 'u2', 'u3'].map(id => [id, 'c1', false] as const),
    ...['u1', 'u2', 'u4'].map(id => [id, 'c2', false] as const),
    ['u4', 'c1', true] as const,
  ]
  await bench.insert(
    'star.bridge_user_company',
    ...ties.map(([user_id, company_id, is_deleted]) => ({ user_id, company_id, is_deleted })),
  )
  expect(await emptied(['u1', 'u2', 'u3'], [], 'users')).toEqual([{ id: 'c1', records: 3 }])
})

test.each(['companies', 'access-rules'])('%s have no owner', async name => {
  expect(await emptied(['r1', 'r2', 'r3'], [], name)).toEqual([])
})
