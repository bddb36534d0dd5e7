/** When a timesheet was submitted, and by what that is known: `sql/part/timesheet_submission.sql`. */
import { expect, test } from 'vitest'
import { ledgerBench } from '../../support/ledger-bench.ts'
import { selecting } from './selecting.ts'

const bench = ledgerBench()

const at = (day: number): string => `2026-06-${String(day).padStart(2, '0')}T12:00:00.000Z`

/** Of the week that ends on the 14th. */
const sheet = (parts: Readonly<Record<string, unknown>> = {}) =>
  bench.insert('star.fact_timesheet', {
    ...{ timesheet_id: 't', status: 'approved', is_deleted: false, week_ending_date: '2026-06-14', ...parts },
  })

const waited = (day: number, parts: Readonly<Record<string, unknown>> = {}) =>
  bench.insert('history.fact_timesheet', {
    ...{ timesheet_id: 't', status: 'pending_approval', valid_from: at(day), is_deleted: false, ...parts },
  })

const event = (day: number, parts: Readonly<Record<string, unknown>> = {}) =>
  bench.insert('star.fact_webhook_event', {
    ...{ event_id: `e${day}`, type: 'timesheet_approval_requested', entity: 'timesheet', record_id: 't' },
    ...{
      created_at: at(day),
      received_at: at(day),
      delivered_count: 1,
      signature_ok: true,
      state: 'done',
      loaded_at: at(day),
      ...parts,
    },
  })

const told = (): Promise<unknown[]> =>
  bench.column(
    selecting(
      ['timesheet_submission'],
      `select coalesce(cast(extract(day from submitted_date) as text), '-') || ' ' || coalesce(submitted_basis, '-')
        || ' ' || coalesce(cast(is_on_time as text), '-') from timed_timesheet`,
    ),
  )

test('the first event that asks for the approval tells, before anything else', async () => {
  await sheet({ approved_at: at(12) })
  await waited(11)
  await event(16)
  await event(15)
  await event(10, { type: 'timesheet_approved' })
  await event(9, { record_id: null })
  expect(await told()).toEqual(['15 event true'])
})

test('without an event the change in which it was first seen to wait tells', async () => {
  await sheet({ approved_at: at(20) })
  await waited(18)
  await waited(16)
  await waited(10, { status: 'pending' })
  await waited(11, { timesheet_id: 'other' })
  expect(await told()).toEqual(['16 seen waiting true'])
})

test.each([
  ['pending_approval', 16, undefined, '16 seen waiting true'],
  ['pending_approval', 16, 15, '15 seen waiting true'],
  ['pending_approval', 16, 17, '16 seen waiting true'],
  ['pending', 16, undefined, '- - false'],
  ['pending', 16, 17, '17 seen waiting true'],
  ['pending_approval', undefined, 17, '17 seen waiting true'],
  ['pending_approval', undefined, undefined, '- - false'],
  [null, 16, 17, '17 seen waiting true'],
] as const)(
  'a %s timesheet, in its version of %s, that waited before on %s: %s',
  async (...[status, version, before, said]) => {
    await sheet({ status, valid_from: version === undefined ? null : at(version) })
    if (before !== undefined) await waited(before)
    expect(await told()).toEqual([said])
  },
)

test.each([
  [undefined, 16, '16 approval true'],
  [undefined, 18, '18 approval -'],
  [18, 16, '16 approval true'],
  [16, 16, '16 seen waiting true'],
  [16, 18, '16 seen waiting true'],
] as const)(
  'an approved timesheet that waited on %s and was approved on %s: %s',
  async (waiting, approved, said) => {
    await sheet({ approved_at: at(approved) })
    if (waiting !== undefined) await waited(waiting)
    expect(await told()).toEqual([said])
  },
)

test.each([
  [17, 'true'],
  [18, 'false'],
])('submitted on the %i. it is within three days of its week: %s', async (day, is) => {
  await sheet()
  await event(day)
  expect(await told()).toEqual([`${day} event ${is}`])
})

test.each([
  ['2026-06-26', 'false'],
  ['2026-06-27', '-'],
])('never submitted, for the week that ends on %s, it is late on the 30th: %s', async (week, is) => {
  await sheet({ status: 'pending', week_ending_date: week })
  expect(await told()).toEqual([`- - ${is}`])
})

test('a timesheet of no week is neither late nor on time', async () => {
  await sheet({ week_ending_date: null })
  await event(18)
  expect(await told()).toEqual(['18 event -'])
})

test.each(['absent', 'cancelled'])('a timesheet that is %s has no submission', async status => {
  await sheet({ status, approved_at: at(16) })
  await event(15)
  expect(await told()).toEqual(['- - -'])
})

test('a timesheet that was deleted is left out', async () => {
  await sheet({ is_deleted: true })
  expect(await told()).toEqual([])
})
