/** Assignments, by hand: who did not come, who left within four weeks, what ends soon, and the plan beside the work. */
import { expect, test } from 'vitest'
import { buildAt, day, put, useHandMade } from './hand-made.ts'

const made = useHandMade()
const today = '2026-11-02'

type More = Readonly<Record<string, string | number | boolean>>

const assignment = (id: string, more: More = {}) => ({
  assignment_id: id,
  status: 'confirmed',
  worker_id: id,
  company_id: 'c',
  agency_id: 'a',
  trade_id: 't',
  start_date: '2026-09-07',
  end_date: '2026-12-24',
  ...more,
})

const sheet = (id: string, assigned: string, more: More = {}) => ({
  timesheet_id: id,
  status: 'approved',
  company_id: 'c',
  assignment_id: assigned,
  week_ending_date: '2026-09-13',
  net_hours: 40,
  charge_total: 1000,
  ...more,
})

const outcomes = async (columns: string) => {
  await buildAt(made(), 'assignment_outcome', today)
  return made().rows<Record<string, unknown>>(
    `select assignment_id as id, ${columns} from mart.assignment_outcome order by 1`,
  )
}

test('a no-show is confirmed, began two weeks ago and has no hours on any timesheet', async () => {
  await put(made(), 'fact_assignment', [
    assignment('absent'),
    assignment('came'),
    assignment('new', { start_date: day(today, -13) }),
    assignment('old', { start_date: '2026-08-30' }),
    assignment('never'),
    assignment('pending', { status: 'pending' }),
    assignment('waits'),
  ])
  await put(made(), 'fact_timesheet', [
    sheet('1', 'came', { week_ending_date: '2026-09-06' }),
    sheet('2', 'waits', { status: 'pending' }),
    sheet('3', 'absent', { status: 'absent' }),
    sheet('4', 'absent', { net_hours: 0 }),
  ])
  expect(await outcomes('due_starts as due, no_shows as missing, no_show_ratio as ratio')).toEqual([
    { id: 'absent', due: 1, missing: 1, ratio: 1 },
    { id: 'came', due: 1, missing: 0, ratio: 0 },
    { id: 'never', due: 1, missing: 1, ratio: 1 },
    { id: 'new', due: 0, missing: 0, ratio: null },
    { id: 'old', due: 0, missing: 0, ratio: null },
    { id: 'waits', due: 1, missing: 0, ratio: 0 },
  ])
})

test('a week far before all others does not make older assignments due, as it may be mistyped', async () => {
  await put(made(), 'fact_assignment', [assignment('older', { start_date: '2026-08-03' })])
  await put(made(), 'fact_timesheet', [
    sheet('1', 'x'),
    sheet('2', 'x', { week_ending_date: '2026-09-20' }),
    sheet('mistyped', 'x', { week_ending_date: '2016-09-13' }),
  ])
  expect(await outcomes('due_starts as due, no_shows as missing')).toEqual([
    { id: 'older', due: 0, missing: 0 },
  ])
})

test('who left within 28 days counts, unless another assignment of the same agency follows or the work was short', async () => {
  const ended = (id: string, days: number, more: More = {}) =>
    assignment(id, { status: 'ended', ended_at: `${day('2026-09-07', days)}T00:00:00Z`, ...more })
  await put(made(), 'fact_assignment', [
    ended('27 days', 27),
    ended('28 days', 28),
    assignment('completed', { status: 'completed', completed_date: '2026-09-20' }),
    ended('moved', 10),
    assignment('next', { worker_id: 'moved', start_date: '2026-09-24' }),
    ended('elsewhere', 10),
    assignment('other agency', { worker_id: 'elsewhere', agency_id: 'b', start_date: '2026-09-18' }),
    ended('recent', 3, { start_date: '2026-10-20' }),
  ])
  const rows = await outcomes('four_week_starts as started, left_within_4_weeks as left_early')
  expect(
    Object.fromEntries(rows.map(({ id, started, left_early }) => [String(id), [started, left_early]])),
  ).toEqual({
    '27 days': [1, 1],
    '28 days': [1, 0],
    completed: [0, 0],
    moved: [1, 0],
    // Began on 24 September, more than 28 days ago.
    next: [1, 0],
    elsewhere: [1, 1],
    'other agency': [1, 0],
    recent: [0, 0],
  })
})

test('an end within 4 weeks is also one within 8 and 12; what is over or past its end is apart', async () => {
  const ends = (id: string, days: number) => assignment(id, { end_date: day(today, days) })
  await put(made(), 'fact_assignment', [
    ends('a', -1),
    ends('b', 0),
    ends('c', 28),
    ends('d', 29),
    ends('e', 84),
    ends('f', 85),
    { ...assignment('g'), end_date: null },
    assignment('h', { status: 'completed', end_date: day(today, 5) }),
  ])
  const rows = await outcomes(
    'end_band as band, ends_in_4_weeks || ends_in_8_weeks || ends_in_12_weeks as ends',
  )
  expect(rows).toEqual([
    { id: 'a', band: 'past its end', ends: '000' },
    { id: 'b', band: 'within 4 weeks', ends: '111' },
    { id: 'c', band: 'within 4 weeks', ends: '111' },
    { id: 'd', band: 'within 8 weeks', ends: '011' },
    { id: 'e', band: 'within 12 weeks', ends: '001' },
    { id: 'f', band: 'later', ends: '000' },
    { id: 'g', band: 'no end known', ends: '000' },
    { id: 'h', band: 'over', ends: '000' },
  ])
})

test('planned hours are those of the shift pattern in worked weeks, between the first and the last day', async () => {
  const shift = (weekday: string, start: number, end: number) => ({
    [`shift_${weekday}_start`]: start,
    [`shift_${weekday}_end`]: end,
    [`shift_${weekday}_break`]: 30,
    [`is_shift_${weekday}_active`]: true,
  })
  await put(made(), 'fact_assignment', [
    // Monday and Friday by day, Saturday by night: 8 + 8 + 9.5 hours.
    assignment('known', {
      ...shift('monday', 8, 16.5),
      ...shift('friday', 8, 16.5),
      ...shift('saturday', 20, 6),
      is_shift_sunday_active: false,
      start_date: '2026-09-09',
    }),
    assignment('minutes', shift('monday', 480, 990)),
    assignment('without'),
  ])
  await put(made(), 'fact_timesheet', [
    // The first week begins on a Wednesday: no Monday.
    sheet('1', 'known', { net_hours: 17 }),
    sheet('2', 'known', { week_ending_date: '2026-09-20', net_hours: 25 }),
    sheet('3', 'known', { week_ending_date: '2026-09-27', net_hours: 9, status: 'pending' }),
    sheet('4', 'minutes'),
    sheet('5', 'without'),
  ])
  expect(
    await outcomes('cast(planned_hours as double) as planned, cast(worked_hours as double) as worked'),
  ).toEqual([
    { id: 'known', planned: 43, worked: 42 },
    { id: 'minutes', planned: null, worked: null },
    { id: 'without', planned: null, worked: null },
  ])
})
