/** How a stored requisition differs from the one that the service shows. */
import { describe, expect, test } from 'vitest'
import { requisitionFinding } from '../../../src/crosscheck/explain/requisition-finding.ts'
import {
  acceptancesOf,
  type ComparedRequisition,
  type StoredRequisition,
} from '../../../src/crosscheck/explain/requisitions.ts'
import { definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'
import { names } from './explaining.ts'

const at = (day: number) => Date.parse(`2026-05-${String(day).padStart(2, '0')}T00:00:00.000Z`)
const served = (parts: Partial<ComparedRequisition> = {}): ComparedRequisition => ({
  ...{ id: 'r1', reference: 'REQ-1', status: 'filled', company: 'c1', project: 'p1' },
  ...{
    approvedAt: at(1),
    updatedAt: '2026-05-20T00:00:00.000Z',
    answers: [{ agency: 'a1', acceptedAt: at(3) }],
  },
  ...parts,
})
const stored = (parts: Partial<StoredRequisition> = {}): StoredRequisition => ({
  ...served(),
  ...{ isDeleted: false, isOdd: false, copies: 1, hasAgencies: true },
  ...parts,
})
const counted = (one: ComparedRequisition | undefined) => acceptancesOf(one, definitionDefaults, {})
const find = (mine: StoredRequisition | undefined, theirs: ComparedRequisition | undefined) =>
  requisitionFinding({ stored: mine, served: theirs }, counted, names)
const twoAnswers = [
  { agency: 'a1', acceptedAt: at(3) },
  { agency: 'a2', acceptedAt: at(4) },
]

describe('nothing is found', () => {
  test.each([
    ['of the same version', stored(), served()],
    ['when only what does not count differs', stored({ reference: 'OTHER' }), served()],
    [
      'when the agencies are in another order',
      stored({ answers: twoAnswers }),
      served({ answers: [...twoAnswers].reverse() }),
    ],
    [
      'when days differ by less than a millionth',
      stored({ answers: [{ agency: 'a1', acceptedAt: at(3) + 0.01 }] }),
      served(),
    ],
    ['of one that is on neither side', undefined, undefined],
    ['of one that counts nowhere and is gone', stored({ answers: [] }), undefined],
  ] as const)('%s', (_, mine, theirs) => {
    expect(find(mine, theirs)).toBeUndefined()
  })
})

const loss = { resource: 'requisitions', id: 'r1', createdAt: null, updatedAt: '2026-05-20T00:00:00.000Z' }

test('one that was stored once is lost, and read again, also when it counts nothing', () => {
  expect(find(undefined, served())).toMatchObject({
    ...{ kind: 'lost', record: 'REQ-1', ours: [], changedAt: loss.updatedAt, loss },
    sentence: 'requisition REQ-1: it was stored once and is not any more',
  })
  expect(find(undefined, served({ answers: [] }))).toMatchObject({ kind: 'lost' })
})

test('one that the service does not have any more is deleted, and not read again', () => {
  const found = find(stored(), undefined)
  expect(found).toMatchObject({ kind: 'deleted', record: 'REQ-1', theirs: [], changedAt: null })
  expect(found?.sentence).toBe('requisition REQ-1: the service no longer has it')
  expect(found).not.toHaveProperty('loss')
})

test('one that is marked as deleted here is lost', () => {
  expect(find(stored({ isDeleted: true, answers: [] }), served())).toMatchObject({ kind: 'lost', loss })
})

test('one that is stored twice differs, and reading it again would not help', () => {
  const found = find(stored({ copies: 2, answers: [...twoAnswers, ...twoAnswers] }), served())
  expect(found).toMatchObject({
    kind: 'differs',
    sentence: 'requisition REQ-1: it is stored 2 times: run muster replay',
  })
  expect(found).not.toHaveProperty('loss')
})

test('a later version is newer, and the same or an earlier one differs', () => {
  const kind = (updatedAt: string | null, mine: string | null = '2026-05-20T00:00:00.000Z') =>
    find(stored({ status: 'closed', updatedAt: mine }), served({ updatedAt }))?.kind
  expect(kind('2026-05-20T00:00:00.001Z')).toBe('newer')
  expect(kind('2026-05-20T00:00:00.000Z')).toBe('differs')
  expect(kind('2026-05-19T00:00:00.000Z')).toBe('differs')
  expect(kind(null)).toBe('differs')
  expect(kind('2026-05-20T00:00:00.000Z', null)).toBe('differs')
})

describe('the sentence says what differs', () => {
  test.each([
    [{ status: 'closed' }, {}, 'status closed here, filled there, in the same version'],
    [{ status: null }, {}, 'status none here, filled there, in the same version'],
    [
      { company: 'c2', project: 'p2' },
      {},
      'company c2 here, c1 there, project p2 here, p1 there, in the same version',
    ],
    [{ approvedAt: null }, {}, 'approved none here, 2026-05-01T00:00:00.000Z there, in the same version'],
    [{ answers: [] }, {}, 'accepted by Hands none here, 2026-05-03T00:00:00.000Z there, in the same version'],
    [
      { answers: twoAnswers },
      { updatedAt: '2026-05-21T00:00:00.000Z' },
      'accepted by a2 2026-05-04T00:00:00.000Z here, none there, changed since it was read',
    ],
    [
      {
        answers: [
          { agency: 'a1', acceptedAt: at(3) },
          { agency: 'a1', acceptedAt: at(5) },
        ],
      },
      {},
      'accepted by Hands 2026-05-03T00:00:00.000Z and 2026-05-05T00:00:00.000Z here, 2026-05-03T00:00:00.000Z there, in the same version',
    ],
  ] as const)('%o beside %o', (mine, theirs, words) => {
    expect(find(stored(mine), served(theirs))?.sentence).toBe(`requisition REQ-1: ${words}`)
  })

  test('by reference, here or there, else by id', () => {
    const record = (mine: string | null, theirs: string | null) =>
      find(stored({ reference: mine, status: 'closed' }), served({ reference: theirs }))?.record
    expect([record('A', 'B'), record(null, 'B'), record(null, null)]).toEqual(['A', 'B', 'r1'])
    expect(find(stored({ reference: null }), undefined)?.record).toBe('r1')
  })
})
