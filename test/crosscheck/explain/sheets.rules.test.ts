/** A timesheet as the service lists it, the hours that count of it, and how two versions differ. */
import { describe, expect, test } from 'vitest'
import {
  countedOf,
  differences,
  listedFields,
  listedSheet,
  type Sheet,
} from '../../../src/crosscheck/explain/sheets.ts'
import { define, hoursCases, sheet } from '../hours-cases.ts'

const byDefault = define({})
const listed = (record: object, parts: Parameters<typeof define>[0] = {}) =>
  listedSheet(record as Record<string, unknown>, define(parts))

describe('a listed timesheet', () => {
  test('has what decides whether, where and how much it counts', () => {
    expect(listed(sheet('t1'))).toEqual({
      ...{ id: 't1', reference: 'TS-t1', status: 'approved', hours: 40 },
      ...{ weekEnding: Date.parse('2026-05-10'), worker: 'w1', company: 'c1', project: 't1', agency: 'a1' },
      ...{ createdAt: '2026-01-02T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' },
    })
  })

  test('may have nothing but an id', () => {
    expect(listed({ id: 7, netHours: '40', reference: 1 })).toEqual({
      ...{ id: '7', reference: null, status: null, hours: null, weekEnding: null },
      ...{ worker: '-1', company: '-1', project: '-1', agency: '-1', createdAt: null, updatedAt: null },
    })
  })

  test('adds up its timelogs where these are what counts', () => {
    const timelogs = [{ hours: { total: 7.5 } }, { hours: {} }, {}, { hours: { total: 8 } }]
    expect(listed({ id: 't1', timelogs, netHours: 40 }, { hoursField: 'timelogHours' }).hours).toBe(15.5)
    expect(listed({ id: 't1', netHours: 40 }, { hoursField: 'timelogHours' }).hours).toBe(0)
  })

  test('is asked for with the hours that count', () => {
    expect(listedFields.netHours.split(',')).toEqual([
      ...['id', 'reference', 'status', 'netHours', 'weekEnding', 'createdAt', 'updatedAt'],
      ...['worker.id', 'company.id', 'project.id', 'agency.id'],
    ])
    expect(listedFields.timelogHours).toBe(listedFields.netHours.replace('netHours', () => 'timelogs'))
  })
})

test.each(hoursCases)('$rule: $hours', ({ record, under, hours }) => {
  const found = countedOf(listed(record, under), define(under), {})
  expect(found.map(({ amount }) => amount)).toEqual(hours === undefined ? [] : [hours])
})

test('a timesheet counts in its company, project, agency, month and week, and in a range', () => {
  const keys = { company: 'c1', project: 't1', agency: 'a1', month: '2026-05', week: '2026-05-04' }
  const one = listed(sheet('t1'))
  expect(countedOf(one, byDefault, {})).toEqual([{ keys, amount: 40 }])
  expect(countedOf(one, byDefault, { from: '2026-05-11' })).toEqual([])
  expect(countedOf(one, byDefault, { from: '2026-05-10', project: 't1' })).toHaveLength(1)
  expect(countedOf(one, byDefault, { project: 't2' })).toEqual([])
})

test('no hours are not the same as hours that are unknown', () => {
  const [none, unknown] = [
    { ...listed(sheet('t1')), hours: 0 },
    { ...listed(sheet('t1')), hours: null },
  ]
  expect(differences(none, unknown)).toEqual(['hours 0 here, none there'])
  expect(differences(unknown, none)).toEqual(['hours none here, 0 there'])
  expect(differences(unknown, unknown)).toEqual([])
})

describe('two versions differ', () => {
  const one = listed(sheet('t1'))
  const than = (parts: Partial<Sheet>) => differences(one, { ...one, ...parts })

  test.each([
    [{}, []],
    [{ reference: 'other', createdAt: null, updatedAt: null }, []],
    [{ status: 'pending' }, ['status approved here, pending there']],
    [{ status: null }, ['status approved here, none there']],
    [{ hours: 41 }, ['hours 40 here, 41 there']],
    [{ hours: 40.0000001 }, []],
    [{ hours: 39.999998 }, ['hours 40 here, 39.999998 there']],
    [{ hours: null }, ['hours 40 here, none there']],
    [
      { weekEnding: Date.parse('2026-05-17') },
      ['weekEnding 2026-05-10T00:00:00.000Z here, 2026-05-17T00:00:00.000Z there'],
    ],
    [{ weekEnding: null }, ['weekEnding 2026-05-10T00:00:00.000Z here, none there']],
    [{ worker: 'w2', agency: 'a2' }, ['worker w1 here, w2 there', 'agency a1 here, a2 there']],
    [{ company: 'c2', project: 'p2' }, ['company c1 here, c2 there', 'project t1 here, p2 there']],
  ] as const)('with %o: %j', (parts, words) => {
    expect(than(parts)).toEqual(words)
  })
})
