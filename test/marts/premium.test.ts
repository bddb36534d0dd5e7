/** What a week of premium time, piece work and margins comes to, by hand. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()
const week = '2026-10-25'

const sheet = (id: string, more: Readonly<Record<string, string | number>>) => ({
  timesheet_id: id,
  status: 'approved',
  company_id: 'c',
  project_id: 'p',
  site_id: 's',
  agency_id: 'a',
  worker_id: 'w',
  rate_type: 'paye',
  week_ending_date: week,
  net_hours: 10,
  ...more,
})

async function work(): Promise<void> {
  await put(made(), 'fact_timesheet', [
    sheet('hours', {
      pay_wd_basic: 90,
      pay_wd_overtime: 10,
      pay_total: 100,
      charge_wd_basic: 130,
      charge_total: 130,
    }),
    sheet('pieces', { pay_wd_basic: 20, pay_total: 65, charge_wd_basic: 30, charge_total: 90 }),
    sheet('pending', { status: 'pending', pay_total: 999, charge_total: 999 }),
  ])
  const log = (id: string, timesheet: string, more: Readonly<Record<string, number | boolean>>) => ({
    timelog_id: id,
    timesheet_id: timesheet,
    ...more,
  })
  await put(made(), 'fact_timelog', [
    log('1', 'hours', { standard_hours: 7, overtime_hours: 1, emp_total_value: 12, margin_total_value: 8 }),
    log('2', 'hours', { standard_hours: 2, overtime_hours: 0, emp_total_value: 6, margin_total_value: 4 }),
    log('3', 'hours', { standard_hours: 50, emp_total_value: 50, margin_total_value: 50, is_deleted: true }),
    log('4', 'pending', { standard_hours: 50, emp_total_value: 50, margin_total_value: 50 }),
  ])
}

test('mart.overtime_uplift: piece work is a row, all rows are the total, and timelogs tell overtime', async () => {
  await work()
  await buildAt(made(), 'overtime_uplift')
  const rows = await made().rows<Record<string, unknown>>(
    `select hour_type, is_premium, cast(pay_value as double) as pay, cast(charge_value as double) as charge,
       cast(week_net_hours as double) as net, cast(week_standard_hours as double) as standard,
       cast(week_overtime_hours as double) as overtime, week_overtime_share as share
     from mart.overtime_uplift order by pay desc`,
  )
  const hours = { net: 20, standard: 9, overtime: 1, share: 0.1 }
  expect(rows.map(({ hour_type: _, ...row }) => row)).toEqual([
    { is_premium: false, pay: 110, charge: 160, ...hours },
    { is_premium: false, pay: 45, charge: 60, ...hours },
    { is_premium: true, pay: 10, charge: 0, ...hours },
  ])
  expect(rows[1]).toMatchObject({ hour_type: 'piece_work' })
})

test('mart.labour_spend_weekly: charge less pay is not the margin of the agency, which timelogs tell', async () => {
  await work()
  await buildAt(made(), 'labour_spend_weekly')
  expect(
    await made().rows(
      `select cast(margin_value as double) as difference, cast(employer_cost_value as double) as employer,
         cast(agency_margin_value as double) as margin, margin_timesheets as told, timesheets from mart.labour_spend_weekly`,
    ),
  ).toEqual([{ difference: 55, employer: 18, margin: 12, told: 1, timesheets: 2 }])
})
