/** Requisitions that other records name and that are not stored: which acceptances they can be. */
import { describe, expect, test } from 'vitest'
import { UnknownRequisitions } from '../../../src/crosscheck/explain/explain-fill.ts'
import type { NamedRequisition } from '../../../src/state/by-id/unknown-references.ts'
import { names } from './explaining.ts'

const naming = (parts: Partial<NamedRequisition> = {}): NamedRequisition => ({
  ...{ company_id: 'c1', reference: 'REQ-1', project_id: 'p1', project_name: null },
  ...{ agency_id: 'a1', agency_name: null, created_date: null },
  ...{ requisition_id: null, state: null, reason: null, is_quarantined: false },
  ...parts,
})
const cell = { company: 'c1', project: 'p1', agency: 'a1', week: '2026-05-04' }
const take = (namings: readonly NamedRequisition[], agency: 'named' | 'any' = 'named', keys: object = cell) =>
  new UnknownRequisitions(namings, names).take(keys, 9, agency)

describe('why one is not stored', () => {
  test.each([
    ['no record gives its id', {}, 'uncovered', /^named by the metric rows, but its id is unknown/],
    ['it was not fetched yet', { requisition_id: 'r1' }, 'missing', /^not fetched yet/],
    [
      'it is missing at the service',
      { requisition_id: 'r1', state: 'missing', reason: 'not found' },
      'uncovered',
      /^the service refuses it: not found$/,
    ],
    [
      'it was refused',
      { requisition_id: 'r1', state: 'refused', reason: 'forbidden' },
      'uncovered',
      /: forbidden$/,
    ],
    [
      'it is in quarantine',
      { requisition_id: 'r1', state: 'refused', is_quarantined: true },
      'quarantined',
      /^it is in quarantine$/,
    ],
    ['nothing refused it', { requisition_id: 'r1', is_quarantined: true }, 'missing', /^not fetched yet/],
  ] as const)('%s', (...[, parts, kind, why]) => {
    expect(take([naming(parts)])).toEqual([{ reference: 'REQ-1', kind, why: expect.stringMatching(why) }])
  })

  test.each([
    ['stored under another reference or lost', [{ requisition_id: 'r1', state: 'stored' }]],
    ['deleted here', [{ requisition_id: 'r1', is_deleted_here: true }]],
    ['deleted here and named by a metric row as well', [{}, { requisition_id: 'r1', state: 'stored' }]],
    [
      'deleted here and to be fetched again',
      [{ requisition_id: 'r1', state: 'never fetched', is_deleted_here: true }],
    ],
  ] as const)('one that was stored once excuses nothing: %s', (_, namings) => {
    expect(take(namings.map(naming))).toEqual([])
  })

  test('one that is deleted here and at the service is refused, as its figures cannot be had', () => {
    const gone = {
      requisition_id: 'r1',
      state: 'missing',
      reason: 'not found',
      is_deleted_here: true,
    } as const
    expect(take([naming(gone)])).toMatchObject([{ kind: 'uncovered' }])
  })

  test('one that is stored and that the service refuses is refused', () => {
    const refused = naming({ requisition_id: 'r1', state: 'refused', reason: 'forbidden' })
    expect(take([refused, naming({ requisition_id: 'r1', state: 'stored' })])).toMatchObject([
      { kind: 'uncovered', why: 'the service refuses it: forbidden' },
    ])
  })

  test('the namings of one reference are one requisition: one with an id decides', () => {
    const found = take([naming(), naming({ requisition_id: 'r1' })])
    expect(found).toMatchObject([{ kind: 'missing' }])
  })

  test('of two companies the same reference is two', () => {
    expect(
      take([naming(), naming({ company_id: 'c2' })], 'named', { project: 'p1', agency: 'a1' }),
    ).toHaveLength(2)
  })
})

describe('one can be an acceptance of a cell', () => {
  test.each([
    ['of its ids', {}, 'named', true],
    ['of another company', { company_id: 'c2' }, 'named', false],
    ['of another project', { project_id: 'p2' }, 'named', false],
    ['of the project by name', { project_id: null, project_name: 'Bridge' }, 'named', true],
    ['of another project by name', { project_id: null, project_name: 'Tunnel' }, 'named', false],
    ['of no project', { project_id: null }, 'named', false],
    ['of another agency', { agency_id: 'a2' }, 'named', false],
    ['of another agency, where any will do', { agency_id: 'a2' }, 'any', true],
    ['of the agency by name', { agency_id: null, agency_name: 'Hands' }, 'named', true],
    ['of no agency', { agency_id: null }, 'named', false],
    ['created in the week', { created_date: '2026-05-10' }, 'named', true],
    ['created two days after it, whatever the zone', { created_date: '2026-05-12' }, 'named', true],
    ['created later', { created_date: '2026-05-13' }, 'named', false],
  ] as const)('%s', (...[, parts, agency, is]) => {
    expect(take([naming(parts)], agency)).toHaveLength(is ? 1 : 0)
  })

  test('all namings must be of the company and not created later; one must be of the project and of the agency', () => {
    expect(take([naming(), naming({ project_id: 'p2', agency_id: 'a2' })])).toHaveLength(1)
    expect(take([naming(), naming({ created_date: '2026-05-13' })])).toHaveLength(0)
  })

  test('a cell without a company or a week has any', () => {
    const keys = { project: 'p1', agency: 'a1' }
    expect(take([naming({ company_id: 'c9', created_date: '2099-01-01' })], 'named', keys)).toHaveLength(1)
  })

  test('a name that is no known id is compared as it is', () => {
    const keys = { ...cell, project: 'New' }
    expect(take([naming({ project_id: null, project_name: 'New' })], 'named', keys)).toHaveLength(1)
    expect(take([naming({ project_id: null, project_name: 'New' })], 'named', { agency: 'a1' })).toHaveLength(
      0,
    )
  })
})

test('as many are taken as are asked for, each once by an agency', () => {
  const unknown = new UnknownRequisitions(
    [naming(), naming({ reference: 'REQ-2' }), naming({ reference: 'REQ-3' })],
    names,
  )
  const taken = (count: number, agency = 'a1') =>
    unknown.take({ ...cell, agency }, count, 'any').map(({ reference }) => reference)
  expect(taken(0)).toEqual([])
  expect(taken(2)).toEqual(['REQ-1', 'REQ-2'])
  expect(taken(2)).toEqual(['REQ-3'])
  expect(taken(1, 'a2')).toEqual(['REQ-1'])
})
