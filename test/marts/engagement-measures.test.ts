/** What contractors, umbrellas and the minimum wage come to in a week, by hand. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

const sheet = (id: string, more: Readonly<Record<string, string | number>>) => ({
  timesheet_id: id,
  status: 'approved',
  company_id: 'c',
  project_id: 'p',
  site_id: 's',
  agency_id: 'a',
  worker_id: id,
  pay_type: 'hourly',
  rate_type: 'paye',
  week_ending_date: '2026-10-25',
  net_hours: 40,
  charge_total: 1000,
  pay_total: 600,
  ...more,
})

const spend = (columns: string) =>
  made().rows<Record<string, unknown>>(
    `select ${columns
      .split(' ')
      .map(name => `cast(sum(${name}) as double) as ${name}`)
      .join(', ')} from mart.labour_spend_weekly`,
  )

test('contractors without a statement and workers of umbrellas have hours and charge of their own', async () => {
  await put(made(), 'fact_assignment', [
    { assignment_id: 'with', has_sds: true, umbrella_id: 'u' },
    { assignment_id: 'without', has_sds: false, umbrella_id: '-1' },
  ])
  await put(made(), 'fact_timesheet', [
    sheet('1', { rate_type: 'psc', assignment_id: 'with' }),
    sheet('2', { rate_type: 'psc', assignment_id: 'without' }),
    sheet('3', { rate_type: 'psc', assignment_id: 'without', net_hours: 8, charge_total: 250 }),
    sheet('4', { rate_type: 'psc', assignment_id: 'never read' }),
    sheet('5', { rate_type: 'paye', assignment_id: 'without' }),
    sheet('6', { rate_type: 'psc', assignment_id: 'without', status: 'pending' }),
  ])
  await buildAt(made(), 'labour_spend_weekly')
  expect(
    await spend(
      'psc_without_sds_workers psc_without_sds_hours psc_without_sds_value psc_sds_unknown_value umbrella_workers umbrella_hours umbrella_value',
    ),
  ).toEqual([
    {
      psc_without_sds_workers: 2,
      psc_without_sds_hours: 48,
      psc_without_sds_value: 1250,
      psc_sds_unknown_value: 1000,
      umbrella_workers: 1,
      umbrella_hours: 40,
      umbrella_value: 1000,
    },
  ])
})

test('pay is compared with the minimum wage of the first day of the week, for PAYE work in pounds', async () => {
  await put(made(), 'dim_company', [
    { company_id: 'c', country: 'United Kingdom', is_inferred: false },
    { company_id: 'ie', country: 'Ireland', is_inferred: false },
  ])
  await put(made(), 'fact_timesheet', [
    // 12.71 from 1 April 2026: 40 hours lack 8.40 at 12.50; at 12.71 nothing.
    sheet('1', { rate_wd_pay: 12.5 }),
    sheet('2', { rate_wd_pay: 12.71 }),
    // The week begins on 30 March, when it was 12.21.
    sheet('3', { rate_wd_pay: 12.5, week_ending_date: '2026-04-05' }),
    sheet('4', { rate_wd_pay: 12.2, week_ending_date: '2026-04-05' }),
    // By the day: 500 for 40 hours lack 8.40.
    sheet('5', { pay_type: 'daily', rate_wd_pay: 100, pay_total: 500 }),
    sheet('6', { rate_wd_pay: 5, rate_type: 'cis' }),
    sheet('7', { rate_wd_pay: 5, company_id: 'ie' }),
    sheet('8', { rate_wd_pay: 5, net_hours: 0 }),
  ])
  await buildAt(made(), 'labour_spend_weekly')
  const [found] = await spend('minimum_wage_hours below_minimum_hours below_minimum_value')
  expect(found).toMatchObject({ minimum_wage_hours: 200, below_minimum_hours: 120 })
  expect(Number(found?.below_minimum_value)).toBeCloseTo(8.4 + 0.4 + 8.4, 4)
})
