/** When a week is settled, on timesheets made by hand: `sql/part/settled_week.sql`. */
import { expect, test } from 'vitest'
import { ledgerBench } from '../../support/ledger-bench.ts'
import { day } from '../hand-made.ts'
import { selecting, today } from './selecting.ts'

const bench = ledgerBench()

/** The Sunday two days before the last reading. */
const lastSunday = day(today, -2)
const sunday = (weeksBefore: number): string => day(lastSunday, -7 * weeksBefore)

let sheets = 0

const sheet = (week: string, hours: number | null, parts: Readonly<Record<string, unknown>> = {}) => {
  sheets += 1
  return bench.insert('star.fact_timesheet', {
    ...{ timesheet_id: `t${sheets}`, status: 'approved', is_deleted: false, week_ending_date: week },
    ...{ net_hours: hours, ...parts },
  })
}

const waiting = { status: 'pending' }

/** By their Sundays, as of a reading on this day. */
const settled = (readDay = today): Promise<unknown[]> =>
  bench.column(
    selecting(
      ['settled_week'],
      'select cast(sunday as text) from settled_week order by sunday desc',
      readDay,
    ),
  )

const isSettled = async (week = lastSunday): Promise<boolean> => (await settled()).includes(week)

test('of a week without a usual share 95% has to be approved', async () => {
  await sheet(lastSunday, 95)
  await sheet(lastSunday, 5, waiting)
  expect(await isSettled()).toBe(true)
  await sheet(lastSunday, 1, waiting)
  expect(await isSettled()).toBe(false)
})

test('a week of which nothing waits is settled, if it has approved hours', async () => {
  await sheet(lastSunday, 0)
  await sheet(lastSunday, null)
  expect(await isSettled()).toBe(false)
  await sheet(lastSunday, 1)
  expect(await isSettled()).toBe(true)
})

test.each([
  [null, 760, true],
  [null, 759, false],
  [0, 760, true],
  [0, 759, false],
  [20, 380, true],
  [20, 379, false],
])('a waiting timesheet of %j hours beside %i approved ones: settled is %s', async (hours, approved, is) => {
  await sheet(lastSunday, approved)
  await sheet(lastSunday, hours, waiting)
  expect(await isSettled()).toBe(is)
})

test.each([
  [95, 5, true],
  [94, 6, false],
])(
  'an approved timesheet without hours counts as none beside %i approved hours and %i that wait: %s',
  async (...row) => {
    const [approved, waits, is] = row
    await sheet(lastSunday, approved)
    await sheet(lastSunday, null)
    await sheet(lastSunday, waits, waiting)
    expect(await isSettled()).toBe(is)
  },
)

test.each(['pending', 'pending_approval'])('a %s timesheet waits', async status => {
  await sheet(lastSunday, 10)
  await sheet(lastSunday, 10, { status })
  expect(await isSettled()).toBe(false)
})

test.each([
  ['cancelled', { status: 'cancelled' }],
  ['absent', { status: 'absent' }],
  ['deleted', { ...waiting, is_deleted: true }],
  ['of no week', { ...waiting, week_ending_date: null }],
] as const)('a timesheet that is %s does not wait', async (_, parts) => {
  await sheet(lastSunday, 10)
  await sheet(lastSunday, 10, parts)
  expect(await isSettled()).toBe(true)
})

/** Half of these weeks is approved, and half of the last one. */
async function halves(weeksBefore: readonly number[]): Promise<void> {
  for (const weeks of [0, ...weeksBefore]) {
    await sheet(sunday(weeks), 10)
    await sheet(sunday(weeks), 10, waiting)
  }
}

test.each([
  // Its Sunday is 30 days before the reading.
  [4, true],
  // Its Sunday is 23 days before the reading: it may still be approved.
  [3, false],
  [26, true],
  [27, false],
])('the share of the week %i weeks before says what is usual: %s', async (weeks, is) => {
  await halves([weeks])
  expect(await isSettled()).toBe(is)
})

test('a week that had ended 28 days before the reading says what is usual, and one that ended a day later not', async () => {
  await halves([4])
  expect(await settled(day(sunday(4), 28))).toEqual([])
  await sheet(sunday(1), 10)
  await sheet(sunday(1), 10, waiting)
  expect(await settled(day(sunday(4), 28))).toEqual([sunday(1)])
  expect(await settled(day(sunday(4), 27))).toEqual([])
})

test('usual is the median share', async () => {
  await halves([10])
  for (const weeks of [11, 12]) await sheet(sunday(weeks), 10)
  expect(await isSettled()).toBe(false)
  for (const weeks of [13, 14]) for (const parts of [{}, waiting]) await sheet(sunday(weeks), 10, parts)
  expect(await isSettled()).toBe(true)
})

test('a week belongs to the Sunday of the week that has most of its days', async () => {
  for (const [end, week] of [
    [day(sunday(10), -4), sunday(11)],
    [day(sunday(10), -3), sunday(10)],
    [day(sunday(10), 3), sunday(10)],
    [day(sunday(10), 4), sunday(9)],
  ] as const) {
    await bench.engine.run('delete from star.fact_timesheet')
    await sheet(end, 10)
    expect(await settled()).toEqual([week])
  }
})

test('a week that had not ended before the day of the reading is not settled', async () => {
  await sheet(day(today, -1), 10)
  expect(await settled()).toEqual([lastSunday])
  // Of the same week, at a company that ends it later.
  await sheet(today, 10)
  expect(await settled()).toEqual([])
})
