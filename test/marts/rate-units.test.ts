/** A rate by the hour and one by the day are never compared or averaged together. */
import { expect, test } from 'vitest'
import { withinOf } from '../../src/marts/additivity.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { measuresOf } from '../../src/marts/measures.ts'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

/** A timesheet of 40 hours of the one assignment, with its own pay type and charge rate. */
const timesheetPaid = (id: string, payType: string | null, charge: number) => ({
  timesheet_id: id,
  assignment_id: 'a',
  company_id: 'c1',
  agency_id: 'g1',
  week_ending_date: '2026-10-04',
  status: 'approved',
  pay_type: payType,
  net_hours: 40,
  rate_wd_charge: charge,
})

test('a timesheet of another pay type than its assignment is compared with no card', async () => {
  await put(made(), 'fact_assignment', [
    {
      assignment_id: 'a',
      company_id: 'c1',
      project_id: '-1',
      agency_id: 'g1',
      trade_id: 'x',
      region_id: '-1',
      sector_id: '-1',
      status: 'confirmed',
      rate_type: 'paye',
      pay_type: 'hourly',
      pay_rate: 18,
      charge_rate: 24,
    },
  ])
  await put(made(), 'dim_rate', [
    {
      rate_id: 'r',
      company_id: 'c1',
      project_id: '-1',
      agency_id: '-1',
      trade_id: 'x',
      region_id: '-1',
      sector_id: '-1',
      hourly_paye_pay: 17,
      hourly_paye_charge: 23,
      is_inferred: false,
    },
  ])
  await put(made(), 'fact_timesheet', [
    timesheetPaid('hourly', 'hourly', 24),
    timesheetPaid('daily', 'daily', 200),
    timesheetPaid('unknown', null, 23),
  ])
  await buildAt(made(), 'supplier_scorecard')
  const [card] = await made().rows<Record<string, unknown>>(
    `select timesheets::int as n, timesheets_of_other_pay_type::int as others, timesheets_above_card::int as above,
       cast(above_card_hours as double) as hours, cast(highest_timesheet_charge_rate as double) as highest,
       cast(charge_variance as double) as variance
     from mart.rate_compliance`,
  )
  expect(card).toEqual({ n: 2, others: 1, above: 1, hours: 40, highest: 24, variance: 1 })
  const [score] = await made().rows<Record<string, unknown>>(
    `select cast(carded_hours as double) as hours, cast(carded_charge as double) as charge,
       cast(card_charge as double) as card from mart.supplier_scorecard where carded_hours > 0`,
  )
  expect(score).toEqual({ hours: 80, charge: 40 * (24 + 23), card: 80 * 23 })
})

test('every average of rates holds within one pay type', () => {
  const wrong = readMarts()
    .filter(({ columns }) => columns.some(({ name }) => name === 'pay_type'))
    .flatMap(mart =>
      measuresOf(mart)
        .filter(({ column }) => /(^|_)(rate|variance)$/.test(column))
        .filter(
          measure =>
            measure.aggregation === 'sum' ||
            (measure.aggregation !== 'none' && !withinOf(mart, measure).includes('pay_type')),
        )
        .map(({ column }) => `${mart.name}.${column}`),
    )
  expect(wrong).toEqual([])
})

test('no figure of a mart with perspectives adds across them', () => {
  const marts = readMarts().filter(({ columns }) => columns.some(({ name }) => name === 'perspective'))
  expect(marts.map(({ name }) => name)).toEqual(['invoice_ledger', 'invoice_match', 'payment_ageing'])
  const wrong = marts.flatMap(mart =>
    measuresOf(mart).filter(measure => !withinOf(mart, measure).includes('perspective')),
  )
  expect(wrong).toEqual([])
})
