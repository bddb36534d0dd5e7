/** Companies that the service's metrics leave out, as calibration found: our marts count them apart and offer all. */
import { beforeEach, expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()
const at = (day: number): string => `2026-06-${String(day).padStart(2, '0')}T00:00:00Z`

/** Company `tracked` is counted, company `other` is not. */
beforeEach(async () => {
  await made().run('delete from ops.metric_calibration')
  await put(
    made(),
    'fact_requisition',
    ['tracked', 'other'].map(company_id => ({
      requisition_id: company_id,
      status: 'approved',
      company_id,
      project_id: '-1',
      trade_id: 't',
      approved_at: at(1),
    })),
  )
  await put(
    made(),
    'fact_requisition_agency',
    [3, 5, 9].flatMap(day =>
      (day === 3 ? ['tracked', 'other'] : ['other']).map(requisition_id => ({
        requisition_agency_key: `${requisition_id} ${day}`,
        requisition_id,
        agency_id: `a${day}`,
        company_id: requisition_id,
        agency_ordinal: day,
        accepted_at: at(day),
      })),
    ),
  )
  await put(
    made(),
    'fact_timesheet',
    [
      ['tracked', 'w', 50],
      ['other', 'v', 60],
      ['other', 'u', 30],
    ].map(([company_id = '', worker_id = '', net_hours = 0]) => ({
      timesheet_id: `${company_id} ${worker_id}`,
      status: 'approved',
      company_id,
      project_id: '-1',
      agency_id: 'a3',
      worker_id,
      week_ending_at: at(7),
      week_ending_date: '2026-06-07',
      net_hours,
    })),
  )
})

const calibrated = (): Promise<unknown> =>
  made().run(
    `insert into ops.metric_calibration (rule, rule_no, metric, state, chosen, candidates_alive, evidence, calls_used, definition_id, calibrated_at, run_id, contract_version)
     values ('companies', 3, '', 'found', ',tracked,', '[]', '{}', 0, 'found', '${at(10)}', 'r', '1')`,
  )

test('time to fill counts the companies of the service, names how many it leaves out, and offers all', async () => {
  await calibrated()
  await buildAt(made(), 'time_to_fill')
  expect(
    await made().rows(
      `select group_key, raw_count, average_days, left_out_count, all_companies_count, all_companies_days,
         all_companies_average_days, all_companies_median_days
       from mart.time_to_fill where group_by in ('all', 'company') order by 1`,
    ),
  ).toEqual([
    {
      ...{ group_key: '', raw_count: 1, average_days: '2.0000', left_out_count: 3, all_companies_count: 4 },
      ...{ all_companies_days: '16.0000', all_companies_average_days: '4.0000' },
      all_companies_median_days: '3.0000',
    },
    {
      ...{ group_key: 'other', raw_count: 0, average_days: null, left_out_count: 3, all_companies_count: 3 },
      ...{ all_companies_days: '14.0000', all_companies_average_days: '4.6667' },
      all_companies_median_days: '4.0000',
    },
    {
      ...{ group_key: 'tracked', raw_count: 1, average_days: '2.0000', left_out_count: 0 },
      ...{ all_companies_count: 1, all_companies_days: '2.0000', all_companies_average_days: '2.0000' },
      all_companies_median_days: '2.0000',
    },
  ])
})

test('the acceptances of companies that are left out stand apart, and are outliers of no group of the service', async () => {
  await calibrated()
  await buildAt(made(), 'time_to_fill_detail')
  expect(
    await made().rows(
      `select company_id as company, count(*) as n, bool_and(is_counted) as counted, count(is_outlier_all) as judged,
         count(is_outlier_trade) as by_trade
       from mart.time_to_fill_detail group by company_id order by 1`,
    ),
  ).toEqual([
    { company: 'other', n: 3, counted: false, judged: 0, by_trade: 3 },
    { company: 'tracked', n: 1, counted: true, judged: 1, by_trade: 1 },
  ])
})

test('workers over hours counts the worker weeks that are left out', async () => {
  await calibrated()
  await buildAt(made(), 'workers_over_hours')
  const columns = `group_key as key, worker_weeks as n, workers_over_threshold as over, left_out_worker_weeks as left_out,
    left_out_over_threshold as left_out_over, all_companies_worker_weeks as all_n, all_companies_over_threshold as all_over`
  const rows = () =>
    made().rows(
      `select ${columns} from mart.workers_over_hours
       where threshold_hours = 48 and group_by in ('all', 'company') order by 1`,
    )
  expect(await rows()).toEqual([
    { key: '', n: 1, over: 1, left_out: 2, left_out_over: 1, all_n: 3, all_over: 2 },
    { key: 'other', n: 0, over: 0, left_out: 2, left_out_over: 1, all_n: 2, all_over: 1 },
    { key: 'tracked', n: 1, over: 1, left_out: 0, left_out_over: 0, all_n: 1, all_over: 1 },
  ])
  await made().run('delete from ops.metric_calibration')
  await buildAt(made(), 'workers_over_hours')
  expect((await rows())[0]).toEqual({
    key: '',
    n: 3,
    over: 2,
    left_out: 0,
    left_out_over: 0,
    all_n: 3,
    all_over: 2,
  })
})
