/** Acceptances of one requisition each, small enough to count by hand: SQL and the search for records count them alike. */
import { definitionDefaults, type MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import { dayMs } from '../../src/lib/dates.ts'

const approvedDate = '2026-01-01T00:00:00.000Z'
const company = { id: 'c1', name: 'One' }

/** Approved at New Year, on a project of its own, with an agency for each of these days. */
export const requisition = (id: string, days: readonly number[], more: object = {}) => ({
  ...{ id, reference: `REQ-${id}`, status: 'filled', company, approvedDate },
  project: { id, name: `Project ${id}` },
  ...{ createdAt: '2025-12-20T00:00:00.000Z', updatedAt: '2026-03-01T00:00:00.000Z' },
  agencies: days.map((day, index) => accepted(`a${index}`, Date.parse(approvedDate) + day * dayMs)),
  ...more,
})

const accepted = (id: string, at: number | string) => ({
  ...{ id, name: `Agency ${id}`, dateAccepted: new Date(at).toISOString() },
})

const oneDay = (id: string, [approved, answered]: readonly [string, string]) =>
  requisition(id, [], { approvedDate: approved, agencies: [accepted('a0', answered)] })

export interface FillCase {
  readonly rule: string
  readonly record: ReturnType<typeof requisition>
  readonly under: Partial<MetricDefinition>
  /** In order. */
  readonly days: readonly number[]
}

const parts = requisition('parts', [-0.5, 1.5, 2])
const negative = requisition('negative', [-1, 0, 2])
// Half past midnight in London's summer and 23:45 of the same day; two days in UTC.
const summer = oneDay('summer', ['2026-06-30T23:30:00.000Z', '2026-07-01T22:45:00.000Z'])
// The day on which London's clocks go forward has 23 hours.
const forward = oneDay('forward', ['2026-03-28T12:00:00.000Z', '2026-03-29T11:00:00.000Z'])
// 23:30 and half past midnight in New York.
const overseas = oneDay('overseas', ['2026-07-01T03:30:00.000Z', '2026-07-01T04:30:00.000Z'])
// 23:55 and 00:05 where the clocks are 17 minutes ahead.
const minutes = oneDay('minutes', ['2026-07-01T23:38:00.000Z', '2026-07-01T23:48:00.000Z'])
const three = requisition('three', [4, 1, 9])
const unapproved = requisition('unapproved', [3], { approvedDate: null })
const unanswered = requisition('unanswered', [3], { agencies: [{ id: 'a0', name: 'A', dateAccepted: null }] })
const cancelled = requisition('cancelled', [7], { status: 'cancelled' })
const unknown = requisition('unknown', [7], { status: 'closed' })
const stateless = requisition('stateless', [7], { status: null })

const rows: readonly (readonly [string, FillCase['record'], Partial<MetricDefinition>, readonly number[]])[] =
  [
    ['a day is 24 hours, and may be a part of one', parts, {}, [-0.5, 1.5, 2]],
    ['whole days passed', parts, { days: 'floor' }, [-1, 1, 2]],
    ['days begun', parts, { days: 'ceil' }, [0, 2, 2]],
    ['the nearest whole day, half a day up', parts, { days: 'round' }, [0, 2, 2]],
    ['midnights of UTC', summer, { days: 'calendarUtc' }, [1]],
    ['midnights of London in summer', summer, { days: 'calendarLondon' }, [0]],
    ['midnights of UTC, whatever the zone', summer, { days: 'calendarUtc', zone: 'Europe/London' }, [1]],
    ['midnights of the zone', summer, { days: 'calendarZone', zone: 'Europe/London' }, [0]],
    ['a day of 23 hours has a midnight', forward, { days: 'calendarLondon' }, [1]],
    ['a day of 23 hours is no whole day', forward, { days: 'floor' }, [0]],
    ['midnights of New York', overseas, { days: 'calendarZone', zone: 'America/New_York' }, [1]],
    [
      'midnights of London, whatever the zone',
      overseas,
      { days: 'calendarLondon', zone: 'America/New_York' },
      [0],
    ],
    ['midnights of an offset by the minute', minutes, { days: 'calendarZone', zone: '+00:17' }, [1]],
    ['midnights of an offset that is a minute less', minutes, { days: 'calendarZone', zone: '+00:11' }, [0]],
    ['an acceptance before the approval is fewer than no days', negative, {}, [-1, 0, 2]],
    ['an acceptance before the approval is no days', negative, { negativeDays: 'zero' }, [0, 0, 2]],
    [
      'an acceptance before the approval is not counted, one with it is',
      negative,
      { negativeDays: 'dropped' },
      [0, 2],
    ],
    ['every agency counts', three, {}, [1, 4, 9]],
    ['the first agency counts', three, { acceptance: 'earliest' }, [1]],
    ['the last agency counts', three, { acceptance: 'latest' }, [9]],
    [
      'the first agency counts, and is dropped when before',
      negative,
      { acceptance: 'earliest', negativeDays: 'dropped' },
      [],
    ],
    ['without an approval nothing counts', unapproved, {}, []],
    ['without an acceptance nothing counts', unanswered, {}, []],
    ['cancelled requisitions count by default', cancelled, {}, [7]],
    ['a state that is left out does not count', cancelled, { requisitionStatuses: ['filled', 'raised'] }, []],
    ['a state that is named counts', cancelled, { requisitionStatuses: ['raised', 'cancelled'] }, [7]],
    ['a part of the name of a state is none', cancelled, { requisitionStatuses: ['cancelled_later'] }, []],
    ['a state that nobody knows does not count', unknown, {}, []],
    ['a requisition without a state does not count', stateless, {}, []],
    ['a company that is named counts', three, { companies: ['c0', 'c1'] }, [1, 4, 9]],
    ['a company that is left out does not count', three, { companies: ['c0', 'c11'] }, []],
  ]

export const fillCases: readonly FillCase[] = rows.map(([rule, record, under, days]) => ({
  ...{ rule, record, under, days },
}))

/** No value is an outlier. */
export const keepsAll = (under: Partial<MetricDefinition>): MetricDefinition => ({
  ...definitionDefaults,
  minForRule: 100,
  ...under,
})
