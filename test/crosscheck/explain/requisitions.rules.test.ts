/** A requisition as the service shows it, and the acceptances that count of it. */
import { describe, expect, test } from 'vitest'
import {
  acceptancesOf,
  refId,
  servedRequisition,
  timeOf,
} from '../../../src/crosscheck/explain/requisitions.ts'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import { fillCases, keepsAll, requisition } from '../fill-cases.ts'

test.each([
  ['2026-01-01T00:00:00.000Z', Date.parse('2026-01-01')],
  ['yesterday', null],
  [null, null],
  [20260101, null],
])('the time of %j is %j', (value, time) => {
  expect(timeOf(value)).toBe(time)
})

test.each([
  [{ id: 'c1', name: 'One' }, 'c1'],
  [{ name: 'One' }, '-1'],
  [null, '-1'],
  [undefined, '-1'],
])('the id of %j is %s', (value, id) => {
  expect(refId(value)).toBe(id)
})

describe('a requisition of the service', () => {
  test('has its agencies that accepted', () => {
    const record = requisition('r1', [1])
    const asked = { id: 'a9', name: 'Asked', dateAccepted: null }
    expect(servedRequisition({ ...record, agencies: [...record.agencies, asked] })).toEqual({
      ...{ id: 'r1', reference: 'REQ-r1', status: 'filled', company: 'c1', project: 'r1' },
      ...{ approvedAt: Date.parse('2026-01-01'), updatedAt: '2026-03-01T00:00:00.000Z' },
      answers: [{ agency: 'a0', acceptedAt: Date.parse('2026-01-02') }],
    })
  })

  test('may have nothing but an id', () => {
    expect(servedRequisition({ id: 7, reference: 1, status: null, updatedAt: 2 })).toEqual({
      ...{ id: '7', reference: null, status: null, company: '-1', project: '-1' },
      ...{ approvedAt: null, updatedAt: null, answers: [] },
    })
  })
})

test.each(fillCases)('$rule: $days', ({ record, under, days }) => {
  const found = acceptancesOf(servedRequisition(record), keepsAll(under), {}).map(one => one.days)
  expect(found.sort((left, right) => left - right).map(value => value + 0)).toEqual(days)
})

describe('an acceptance', () => {
  const define = (parts: Partial<MetricDefinition> = {}): MetricDefinition => ({
    ...definitionDefaults,
    ...parts,
  })
  const two = servedRequisition(requisition('r1', [1, 3]))

  test('counts one in its company, project, agency, month and week', () => {
    expect(acceptancesOf(two, define(), {})[1]).toEqual({
      keys: { company: 'c1', project: 'r1', agency: 'a1', month: '2026-01', week: '2025-12-29' },
      ...{ amount: 1, days: 3, at: Date.parse('2026-01-04') },
    })
  })

  test('counts in a range of days, and of an agency', () => {
    const agencies = (range: object, parts: Partial<MetricDefinition> = {}) =>
      acceptancesOf(two, define(parts), range).map(({ keys }) => keys.agency)
    expect(agencies({ from: '2026-01-03' })).toEqual(['a1'])
    expect(agencies({ to: '2026-01-03' })).toEqual(['a0'])
    expect(agencies({ agency: 'a1' })).toEqual(['a1'])
    expect(agencies({ agency: 'a1' }, { acceptance: 'earliest' })).toEqual([])
  })

  test('does not exist for a requisition that the service does not have', () => {
    expect(acceptancesOf(undefined, define(), {})).toEqual([])
  })
})
