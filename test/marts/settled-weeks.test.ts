/** When a week is settled, on weeks made by hand: `sql/part/settled_week.sql`. */
import { beforeEach, expect, test } from 'vitest'
import { buildAt, day, put, useHandMade } from './hand-made.ts'

const made = useHandMade()
/** A Sunday; the service is read on the Wednesday after the twentieth week. */
const first = '2026-06-14'
const weekEnd = (week: number): string => day(first, 7 * week)
const readAt = `${day(weekEnd(19), 3)}T09:00:00Z`

let sheets = 0

interface Sheets {
  readonly week: string
  readonly approved?: number
  readonly waiting?: number
  readonly more?: Readonly<Record<string, string | number | boolean | null>>
}

async function work(list: readonly Sheets[]): Promise<void> {
  const one = (status: string, { week, more = {} }: Sheets) => {
    sheets += 1
    const ids = { company_id: 'c', project_id: '-1', site_id: '-1', agency_id: '-1', worker_id: `w${sheets}` }
    const figures = { net_hours: 40, charge_total: 1000, expense_value: 10, pay_total: 800 }
    return { timesheet_id: `t${sheets}`, status, ...ids, ...figures, week_ending_date: week, ...more }
  }
  const rows = list.flatMap(sheet => [
    ...Array.from({ length: sheet.approved ?? 0 }, () => one('approved', sheet)),
    ...Array.from({ length: sheet.waiting ?? 0 }, (_, n) =>
      one(n % 2 === 0 ? 'pending_approval' : 'pending', sheet),
    ),
  ])
  await put(made(), 'fact_timesheet', rows)
}

/** Nineteen weeks of which these shares of twenty timesheets were approved. */
const before = (approved: number): Sheets[] =>
  Array.from({ length: 19 }, (_, week) => ({ week: weekEnd(week), approved, waiting: 20 - approved }))

async function settled(mart = 'labour_spend_weekly'): Promise<Map<string, unknown>> {
  await buildAt(made(), mart, readAt.slice(0, 10))
  const rows = await made().rows<{ week: string; settled: boolean }>(
    `select distinct cast(week_ending_date as text) as week, is_settled_week as settled from mart.${mart}`,
  )
  expect(new Set(rows.map(({ week }) => week)).size, 'one word on each week').toBe(rows.length)
  return new Map(rows.map(({ week, settled }) => [week, settled]))
}

beforeEach(async () => {
  await made().run('delete from ops.run')
  await made().run(`insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read,
      rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
    values ('s', 'sync', '', 'done', '${readAt}', '${readAt}', 1, 0, 1, 1, 0, 0, 0, 0, 'test')`)
})

test('a week that is over with 10 timesheets approved and 59 waiting is not settled, and shows what waits', async () => {
  await work([...before(20), { week: weekEnd(19), approved: 10, waiting: 59 }])
  const weeks = await settled()
  expect(weeks.get(weekEnd(19))).toBe(false)
  expect(weeks.get(weekEnd(18))).toBe(true)
  const [row] = await made().rows(
    `select cost_value, pending_timesheets, pending_value, approved_and_pending_value, approved_share
     from mart.labour_spend_weekly where week_ending_date = '${weekEnd(19)}'`,
  )
  expect(row).toEqual({
    cost_value: '10100.0000',
    pending_timesheets: 59,
    pending_value: '59590.0000',
    approved_and_pending_value: '69690.0000',
    approved_share: 10 / 69,
  })
})

test('a week is settled when its share is that of the weeks before it, and when nothing waits', async () => {
  await work([...before(16), { week: weekEnd(19), approved: 15, waiting: 5 }])
  expect((await settled()).get(weekEnd(19))).toBe(true)
  await work([{ week: weekEnd(19), waiting: 1 }])
  expect((await settled()).get(weekEnd(19))).toBe(false)
  await made().run(
    `update star.fact_timesheet set status = 'approved' where week_ending_date = '${weekEnd(19)}'`,
  )
  expect((await settled()).get(weekEnd(19))).toBe(true)
})

test('weeks that ended less than 28 days ago do not say what is usual', async () => {
  const young = [16, 17, 18].map(week => ({ week: weekEnd(week), approved: 1, waiting: 19 }))
  await work([...before(20).slice(0, 16), ...young, { week: weekEnd(19), approved: 10, waiting: 10 }])
  expect((await settled()).get(weekEnd(19))).toBe(false)
  await work([{ week: weekEnd(4), waiting: 5 }])
  expect((await settled()).get(weekEnd(4))).toBe(false)
})

test('without weeks to compare with, at least 95 hours of 100 have to be approved', async () => {
  await work([{ week: weekEnd(19), approved: 19, waiting: 1 }])
  expect((await settled()).get(weekEnd(19))).toBe(true)
  await work([{ week: weekEnd(19), waiting: 1 }])
  expect((await settled()).get(weekEnd(19))).toBe(false)
})

test.each([
  [26, true],
  [27, false],
] as const)('the share of a week %i weeks earlier says what is usual: %s', async (weeks, counts) => {
  await work([{ week: day(weekEnd(19), -7 * weeks), approved: 10, waiting: 10 }])
  await work([{ week: weekEnd(19), approved: 18, waiting: 2 }])
  expect((await settled()).get(weekEnd(19))).toBe(counts)
})

test('a waiting timesheet without hours counts with 40', async () => {
  await work([...before(20), { week: weekEnd(19), approved: 10 }])
  await work([{ week: weekEnd(19), waiting: 59, more: { net_hours: 0, charge_total: null } }])
  expect((await settled()).get(weekEnd(19))).toBe(false)
})

test('a week that is not over, or has no approved hours, is not settled', async () => {
  await work([
    ...before(20),
    { week: weekEnd(20), approved: 20 },
    { week: weekEnd(19), approved: 0, waiting: 0 },
  ])
  await put(made(), 'fact_assignment', [
    {
      assignment_id: 'a',
      company_id: 'c',
      project_id: '-1',
      trade_id: '-1',
      agency_id: '-1',
      worker_id: 'w',
      status: 'confirmed',
      start_date: first,
    },
  ])
  const weeks = await settled('headcount_weekly')
  expect(weeks.get(weekEnd(20))).toBe(false)
  expect(weeks.get(weekEnd(19))).toBe(false)
  expect(weeks.get(weekEnd(18))).toBe(true)
})

test('companies that end their weeks on different days share the word on the week', async () => {
  await work([...before(20), { week: weekEnd(19), approved: 20 }])
  await work([{ week: day(weekEnd(19), 2), waiting: 20, more: { company_id: 'tuesday' } }])
  const weeks = await settled()
  expect([weeks.get(weekEnd(19)), weeks.get(day(weekEnd(19), 2))]).toEqual([false, false])
})

test('what waits is beside the hours of each week, over all companies', async () => {
  await work([...before(20), { week: weekEnd(19), approved: 1, waiting: 3 }])
  for (const mart of ['working_time_weekly', 'headcount_weekly', 'headcount_total']) {
    await buildAt(made(), mart, readAt.slice(0, 10))
    const [row] = await made().rows(
      `select net_hours, pending_hours, approved_share from mart.${mart}
       where week_ending_date = '${weekEnd(19)}' order by net_hours desc limit 1`,
    )
    const figures = { net_hours: '40.0000', pending_hours: '120.0000', approved_share: 0.25 }
    expect([mart, row]).toEqual([mart, figures])
  }
})
