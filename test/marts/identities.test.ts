/** What must add up in marts of everything that the sandbox knows, beside what sql/check looks at in every warehouse. */
import { beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { buildAt } from './hand-made.ts'

const filled = useFilled()
let engine: Engine
const mine = [
  'worker_week',
  'assignment_tenure',
  'headcount_weekly',
  'requisition_funnel',
  'stage_duration',
  'supplier_scorecard',
  'open_demand',
  'approval_cycle',
]

beforeAll(async () => {
  engine = (await filled.duckdb()).engine
  for (const name of mine) await buildAt(engine, name)
}, 120_000)

const approved = `star.fact_timesheet where status = 'approved' and not is_deleted`

test.each([
  [
    'weeks with hours',
    `select count(*) as n from mart.worker_week where timesheets > 0`,
    `select count(*) as n from (select distinct worker_id, week_ending_date from ${approved}) as w`,
  ],
  [
    'pairs of requisition and agency',
    `select count(*) as n from mart.requisition_funnel`,
    `select count(*) as n from (select distinct requisition_id, agency_id from star.fact_requisition_agency) as p`,
  ],
  [
    'requisitions received',
    `select sum(received) as n from mart.supplier_scorecard`,
    `select count(*) as n from mart.requisition_funnel`,
  ],
  [
    'candidates by month',
    `select sum(tracked) as n from mart.supplier_scorecard`,
    `select sum(submitted) as n from mart.requisition_funnel`,
  ],
  [
    'the assigned',
    `select sum(assigned) as n from mart.requisition_funnel`,
    `select count(*) as n from star.fact_submission_stage where current_stage = 'assigned'`,
  ],
  [
    'assignments that began by the end of this week, also where nobody has written a timesheet',
    `select sum(assignments_begun) as n from mart.headcount_weekly`,
    `select count(*) as n from star.fact_assignment as a where status not in ('pending', 'cancelled')
     and a.start_date <= (select max(week_ending_date) from mart.headcount_weekly as h where h.company_id = a.company_id)`,
  ],
])('%s', async (_, ours, theirs) => {
  const [left, right] = [await engine.rows(ours), await engine.rows(theirs)]
  expect(Number((left[0] as { n: unknown }).n)).toBeGreaterThan(0)
  expect(left).toEqual(right)
})

test.each([
  [
    'a funnel never widens',
    `mart.requisition_funnel where not (submitted >= cv_reviewed and cv_reviewed >= interviewed and interviewed >= offer_made
     and offer_made >= offer_accepted and offer_accepted >= assigned and submissions >= submitted)`,
  ],
  ['half is no more than nine tenths', `mart.stage_duration where median_days > p90_days`],
  [
    'a week begins with those the last one ended with',
    `(select active_start, lag(active_end) over week as before, week_ending_date - lag(week_ending_date) over week as days
     from mart.headcount_weekly window week as (partition by company_id, project_id, trade_id, agency_id, rate_type order by week_ending_date)) as w
     where days = 7 and active_start <> before`,
  ],
  [
    'weeks of a worker follow each other',
    `(select week_ending_date - lag(week_ending_date) over (partition by worker_id order by week_ending_date) as days
     from mart.worker_week) as w where days > 7`,
  ],
  [
    'an average is between 0 and the longest week',
    `mart.worker_week as w where avg_17_week_hours > (select max(net_hours) from mart.worker_week as x where x.worker_id = w.worker_id)`,
  ],
  [
    'a count of weeks is no more than the weeks',
    `mart.assignment_tenure where awr_week_count > weeks_worked or awr_week_count < 1 or is_awr_qualified <> (awr_week_count >= 12)`,
  ],
])('%s', async (_, wrong) => {
  expect(await engine.rows(`select * from ${wrong} limit 3`)).toEqual([])
})

test('the average over 17 weeks is the same by brute force', async () => {
  const [row] = await engine.rows<{ n: number; wrong: number }>(`select count(*) as n, count(case when
      abs(w.avg_17_week_hours - (select sum(x.net_hours) from mart.worker_week as x where x.worker_id = w.worker_id
        and x.week_ending_date <= w.week_ending_date and x.week_ending_date > w.week_ending_date - 119)
      / least(17, (select count(*) from mart.worker_week as x where x.worker_id = w.worker_id and x.week_ending_date <= w.week_ending_date))) > 1e-9
    then 1 end) as wrong from mart.worker_week as w`)
  expect(row?.n).toBeGreaterThan(500)
  expect(row?.wrong).toBe(0)
})
