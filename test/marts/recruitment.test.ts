/** Recruitment by hand: funnel, stages, approvals, open demand and the scorecard that is made from them; headcount besides. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { useEngines } from '../warehouse/fixture.ts'
import { buildAt, put } from './hand-made.ts'

const made = useEngines()
let engine: Engine
beforeEach(async () => {
  engine = (await made.duckdb()).engine
})

const rows = (sql: string) => engine.rows<Record<string, unknown>>(sql)

interface Candidate {
  readonly id: string
  readonly stages: readonly string[]
  readonly rejected?: boolean
  readonly agency?: string
  /** Days from one stage to the next. */
  readonly days?: readonly number[]
}

const june = Date.parse('2026-06-01T09:00:00Z')
const at = (days: number): string => new Date(june + days * 86_400_000).toISOString()

/** One requisition `r` of company `c`, asked of agency `a`, and how its candidates got on. */
async function recruit(candidates: readonly Candidate[], status = 'approved'): Promise<void> {
  const place = { company_id: 'c', project_id: 'p', trade_id: 't' }
  await put(engine, 'fact_requisition', [
    { requisition_id: 'r', reference: 'R-1', status, created_at: at(-9), ...place },
  ])
  await put(engine, 'fact_requisition_agency', [
    {
      requisition_agency_key: 'ra',
      requisition_id: 'r',
      agency_id: 'a',
      offered: 3,
      assigned: 2,
      received_at: at(-2),
      ...place,
    },
  ])
  for (const { id, stages, rejected = false, agency = 'a', days = [] } of candidates) {
    const who = { requisition_id: 'r', agency_id: agency, worker_id: id }
    await put(engine, 'fact_submission', [{ submission_key: id, ...who }])
    await put(engine, 'fact_submission_stage', [
      { submission_stage_key: id, ...who, is_rejected: rejected, current_stage: stages.at(-1) ?? null },
    ])
    let passed = 0
    for (const [index, stage] of stages.entries()) {
      const begun = passed
      passed += days[index] ?? 1
      const isLast = index === stages.length - 1
      await put(engine, 'fact_stage_event', [
        {
          stage_event_key: `${id}${index}`,
          submission_stage_key: id,
          ...who,
          event_ordinal: index + 1,
          stage,
          event_at: at(begun),
          exited_at: isLast ? null : at(passed),
          days_in_stage: isLast ? null : passed - begun,
        },
      ])
    }
  }
}

describe('mart.requisition_funnel', () => {
  const funnel = `submitted as s, cv_reviewed as c, interviewed as i, offer_made as o, offer_accepted as a, assigned as d`

  test('who came far also counts before, whatever was skipped', async () => {
    await recruit([
      { id: 'skipped', stages: ['submitted', 'offerMade'] },
      {
        id: 'whole',
        stages: [
          'submitted',
          'cvReviewed',
          'interviewRequested',
          'interviewed',
          'offerMade',
          'offerAccepted',
          'assigned',
        ],
      },
      { id: 'declined', stages: ['submitted', 'cvReviewed', 'offerMade', 'offerRejected'] },
      { id: 'papers', stages: ['submitted', 'interviewed', 'offerAccepted', 'missingCompliance'] },
      { id: 'unknown', stages: ['submitted', 'somethingNew'] },
      { id: 'rejected', stages: ['submitted', 'cvReviewed', 'interviewRequested'], rejected: true },
    ])
    await buildAt(engine, 'requisition_funnel')
    expect(await rows(`select ${funnel} from mart.requisition_funnel`)).toEqual([
      { s: 6, c: 5, i: 4, o: 4, a: 2, d: 1 },
    ])
    expect(
      await rows(`select offered, filled, submissions, rejected, offers_rejected as declined, missing_compliance as papers,
        dropped_at_stage as dropped, reviewed_ratio as reviewed, submitted_to_assigned_ratio as whole from mart.requisition_funnel`),
    ).toEqual([
      {
        offered: 3,
        filled: 2,
        submissions: 6,
        rejected: 1,
        declined: 1,
        papers: 1,
        dropped: 'cvReviewed',
        reviewed: 5 / 6,
        whole: 1 / 6,
      },
    ])
  })

  test('without tracking there are submissions and no ratios; one agency more has a row more', async () => {
    await recruit([])
    await put(engine, 'fact_submission', [
      { submission_key: 'x', requisition_id: 'r', agency_id: 'a', worker_id: 'w' },
      { submission_key: 'y', requisition_id: 'r', agency_id: 'b', worker_id: 'w' },
    ])
    await buildAt(engine, 'requisition_funnel')
    expect(
      await rows(`select agency_id as agency, offered, submissions, submitted, reviewed_ratio as ratio, dropped_at_stage as dropped
        from mart.requisition_funnel order by 1`),
    ).toEqual([
      { agency: 'a', offered: 3, submissions: 1, submitted: 0, ratio: null, dropped: null },
      { agency: 'b', offered: 0, submissions: 1, submitted: 0, ratio: null, dropped: null },
    ])
  })
})

describe('mart.stage_duration', () => {
  const figures = `entries, exits, open_now as open, ended_here as ended, measured_exits as measured, out_of_order_exits as wrong,
    avg_days as average, cast(median_days as double) as median, cast(p90_days as double) as p90`
  const submitted = async () =>
    (await rows(`select ${figures} from mart.stage_duration where stage = 'submitted'`))[0]
  const staying = (...days: readonly number[]): Candidate[] =>
    days.map((one, index) => ({ id: `w${index}`, stages: ['submitted', 'cvReviewed'], days: [one] }))
  const counted = { open: 0, ended: 0, wrong: 0 }

  test.each([
    ['one', [2.5], { average: 2.5, median: 2.5, p90: 2.5 }],
    ['two', [1, 2], { average: 1.5, median: 1.5, p90: 1.9 }],
    ['four, in no order', [4, 1, 3, 2], { average: 2.5, median: 2.5, p90: 3.7 }],
    ['equal ones', [3, 3, 3], { average: 3, median: 3, p90: 3 }],
    ['one far from the others', [1, 1, 1, 1, 101], { average: 21, median: 1, p90: 61 }],
    ['none', [0, 0], { average: 0, median: 0, p90: 0 }],
  ])('days of %s', async (_, days, expected) => {
    await recruit(staying(...days))
    await buildAt(engine, 'stage_duration')
    const n = days.length
    expect(await submitted()).toEqual({ entries: n, exits: n, measured: n, ...counted, ...expected })
  })

  test('an exit dated before the entry is counted and not measured', async () => {
    await recruit(staying(2, -1, 4))
    await buildAt(engine, 'stage_duration')
    expect(await submitted()).toEqual({
      entries: 3,
      exits: 3,
      measured: 2,
      ...counted,
      wrong: 1,
      average: 3,
      median: 3,
      p90: 3.8,
    })
  })

  test('who stands there is open unless it is the end, of the worker or of the requisition', async () => {
    await recruit([
      { id: 'waits', stages: ['submitted'] },
      { id: 'rejected', stages: ['submitted'], rejected: true },
      { id: 'assigned', stages: ['submitted', 'assigned'] },
    ])
    await buildAt(engine, 'stage_duration')
    const open = `select stage, entries, exits, open_now as open, ended_here as ended from mart.stage_duration order by stage`
    expect(await rows(open)).toEqual([
      { stage: 'assigned', entries: 1, exits: 0, open: 0, ended: 1 },
      { stage: 'submitted', entries: 3, exits: 1, open: 1, ended: 1 },
    ])
    await engine.run(`update star.fact_requisition set status = 'filled'`)
    await buildAt(engine, 'stage_duration')
    expect(await rows(open)).toMatchObject([{ open: 0 }, { open: 0, ended: 2 }])
  })
})

test('mart.approval_cycle: a stage waits from the one before it, until it is approved or until now', async () => {
  await engine.run(`insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read,
      rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
    values ('s', 'sync', '', 'done', '${at(0)}', '${at(0)}', 1, 0, 1, 1, 0, 0, 0, 0, 'test')`)
  const stage = (requisition: string, ordinal: number, more: Record<string, string | boolean | null>) => ({
    requisition_approval_stage_key: `${requisition}${ordinal}`,
    requisition_id: requisition,
    stage_ordinal: ordinal,
    stage: ordinal,
    requisition_created_at: at(-10),
    is_approved: false,
    ...more,
  })
  await put(engine, 'fact_requisition', [
    { requisition_id: 'r', status: 'raised' },
    { requisition_id: 'q', status: 'rejected' },
  ])
  await put(engine, 'fact_requisition_approval_stage', [
    stage('r', 1, { is_approved: true, approved_at: at(-9.5) }),
    stage('r', 2, { prior_approved_at: at(-9.5) }),
    stage('r', 3, {}),
    stage('q', 1, { is_approved: true, approved_at: null }),
    stage('q', 2, {}),
  ])
  await buildAt(engine, 'approval_cycle')
  expect(
    await rows(`select requisition_approval_stage_key as stage, is_approved as done, is_pending as pending, hours_waiting as hours
      from mart.approval_cycle order by 1`),
  ).toEqual([
    { stage: 'q1', done: true, pending: false, hours: null },
    { stage: 'q2', done: false, pending: false, hours: null },
    { stage: 'r1', done: true, pending: false, hours: 12 },
    { stage: 'r2', done: false, pending: true, hours: 228 },
    { stage: 'r3', done: false, pending: false, hours: null },
  ])
})

test('mart.open_demand: what still asks for workers, its age, its notice, and how much of the whole is held', async () => {
  const requisition = (id: string, more: Record<string, string | number | null>) => ({
    requisition_id: id,
    reference: `R-${id}`,
    company_id: 'c',
    status: 'approved',
    quantity: 3,
    open_quantity: 2,
    assigned_total: 1,
    created_at: '2026-10-20T23:30:00Z',
    ...more,
  })
  await put(engine, 'fact_requisition', [
    requisition('soon', {
      approved_at: at(0),
      approved_date: '2026-10-30',
      planned_start_date: '2026-11-09',
    }),
    requisition('later', { status: 'raised', planned_start_date: '2026-11-10' }),
    requisition('full', { open_quantity: 0 }),
    requisition('gone', { status: 'cancelled' }),
    requisition('elsewhere', { company_id: 'd', planned_start_date: '2026-11-01' }),
  ])
  await put(engine, 'dim_company_setting', [
    { company_setting_key: 's1', company_id: 'c', setting_path: 'leadTimeWarning.days', value_number: 7 },
    {
      company_setting_key: 's2',
      company_id: 'c',
      setting_path: 'leadTimeWarning.enabled',
      value_boolean: true,
    },
  ])
  const counted = (reference: string, occurrence: number) => ({
    recruitment_metric_row_key: `${reference}${occurrence}`,
    company_id: 'c',
    requisition_reference: reference,
  })
  await put(engine, 'fact_recruitment_metric_row', [
    counted('R-soon', 1),
    counted('R-soon', 2),
    counted('R-unseen', 1),
  ])
  await buildAt(engine, 'open_demand', '2026-11-02')
  expect(
    await rows(`select requisition_id as id, open_quantity as open, days_open as age, days_to_start as notice, is_inside_lead_time as late,
      company_requisitions_held as held, company_requisitions_counted as counted from mart.open_demand order by 1`),
  ).toEqual([
    { id: 'elsewhere', open: '2.0000', age: 12, notice: -1, late: false, held: 0, counted: 0 },
    { id: 'later', open: '2.0000', age: 12, notice: 8, late: false, held: 1, counted: 2 },
    { id: 'soon', open: '2.0000', age: 3, notice: 7, late: true, held: 1, counted: 2 },
  ])
})

test('mart.headcount_weekly: who began before, begins, leaves and stays', async () => {
  const week = '2026-06-07'
  const assignment = (id: string, [start, end]: readonly (string | null)[], more = {}) => ({
    assignment_id: id,
    company_id: 'c',
    project_id: 'p',
    trade_id: 't',
    agency_id: 'a',
    rate_type: 'paye',
    status: 'confirmed',
    start_date: start ?? null,
    end_date: end ?? null,
    ...more,
  })
  await put(engine, 'fact_assignment', [
    assignment('stays', ['2026-01-05', null]),
    assignment('leaves', ['2026-05-31', '2026-06-07']),
    assignment('begins', ['2026-06-01', '2026-06-08']),
    assignment('one week', ['2026-06-01', '2026-06-05']),
    assignment('before', ['2026-05-01', '2026-05-31']),
    assignment('after', ['2026-06-08', '2026-07-01']),
    assignment('cut short', ['2026-05-01', '2026-12-31'], {
      status: 'ended',
      ended_at: '2026-06-02T09:00:00Z',
    }),
    assignment('backwards', ['2026-06-03', '2026-01-01']),
    assignment('called off', ['2026-06-01', '2026-06-30'], { status: 'cancelled' }),
    assignment('elsewhere', ['2026-06-01', '2026-06-30'], { company_id: 'd' }),
  ])
  const sheet = (id: string, [worker, hours]: readonly [string, number], more = {}) => ({
    timesheet_id: id,
    worker_id: worker,
    net_hours: hours,
    status: 'approved',
    company_id: 'c',
    project_id: 'p',
    agency_id: 'a',
    assignment_id: 'stays',
    rate_type: 'paye',
    week_ending_date: week,
    ...more,
  })
  await put(engine, 'fact_timesheet', [
    sheet('1', ['w', 30]),
    sheet('2', ['w', 10]),
    sheet('3', ['v', 20]),
    sheet('4', ['u', 0]),
    sheet('5', ['x', 40], { status: 'pending' }),
    sheet('6', ['x', 8], { assignment_id: 'unheard of', rate_type: null }),
  ])
  await buildAt(engine, 'headcount_weekly')
  expect(
    await rows(`select trade_id as trade, rate_type as type, active_start as s, starters as plus, leavers as minus, active_end as e,
      worked_headcount as heads, fte from mart.headcount_weekly order by 1`),
  ).toEqual([
    { trade: '-1', type: 'unknown', s: 0, plus: 0, minus: 0, e: 0, heads: 1, fte: 0.2 },
    { trade: 't', type: 'paye', s: 3, plus: 3, minus: 4, e: 2, heads: 2, fte: 1.5 },
  ])
})

test('mart.supplier_scorecard: each figure in its month, each ratio with both of its parts', async () => {
  await recruit([
    { id: 'x', stages: ['submitted', 'interviewed', 'offerMade'] },
    { id: 'y', stages: ['submitted'] },
  ])
  await engine.run(
    `update star.fact_requisition_agency set accepted_at = '${at(-1)}', received_to_accepted_days = 1`,
  )
  const engagement = {
    company_id: 'c',
    project_id: 'p',
    agency_id: 'a',
    trade_id: 't',
    region_id: '-1',
    sector_id: '-1',
    rate_type: 'paye',
    pay_type: 'hourly',
  }
  await put(engine, 'fact_assignment', [
    {
      assignment_id: 'm',
      ...engagement,
      status: 'ended',
      start_date: '2026-05-11',
      end_date: '2026-07-31',
      ended_at: '2026-06-10T09:00:00Z',
      charge_rate: 33,
    },
    {
      assignment_id: 'n',
      ...engagement,
      status: 'completed',
      start_date: '2026-05-18',
      end_date: '2026-06-26',
      completed_date: '2026-06-26',
    },
  ])
  await put(engine, 'bridge_assignment_link', [
    { assignment_link_key: 'l', assignment_id: 'm', kind: 'replaced_by', linked_id: 'n' },
  ])
  await put(engine, 'dim_rate', [
    {
      rate_id: 'card',
      trade_id: 't',
      company_id: 'c',
      region_id: '-1',
      sector_id: '-1',
      project_id: '-1',
      agency_id: '-1',
      hourly_paye_charge: 30,
      hourly_paye_pay: 20,
      is_stub: false,
    },
  ])
  const sheet = {
    status: 'approved',
    worker_id: 'w',
    company_id: 'c',
    project_id: 'p',
    agency_id: 'a',
    assignment_id: 'm',
    rate_type: 'paye',
  }
  await put(engine, 'fact_timesheet', [
    {
      timesheet_id: '1',
      ...sheet,
      week_ending_date: '2026-06-07',
      net_hours: 40,
      charge_total: 1320,
      rate_wd_charge: 33,
      created_at: '2026-06-10T22:30:00Z',
    },
    {
      timesheet_id: '2',
      ...sheet,
      week_ending_date: '2026-06-14',
      net_hours: 10,
      charge_total: 300,
      rate_wd_charge: 30,
      created_at: '2026-06-17T23:30:00Z',
    },
    { timesheet_id: '3', ...sheet, week_ending_date: '2026-06-14', net_hours: 40, status: 'cancelled' },
  ])
  await buildAt(engine, 'supplier_scorecard')
  const [may, work, ...others] = await rows(`select * from mart.supplier_scorecard order by month_start_date`)
  expect(others).toEqual([])
  expect(may).toMatchObject({
    ...{
      month_start_date: '2026-05-01',
      received: 1,
      accepted: 1,
      response_ratio: 1,
      median_hours_to_accept: '24.0000',
    },
    ...{ offered: 3, filled: 2, fill_ratio: 2 / 3, submissions: 2, submissions_per_requisition: 2 },
    ...{ tracked: 2, interviewed: 1, offers_made: 1, interview_ratio: 0.5, offer_ratio: 1 },
    ...{
      started: 2,
      replaced: 1,
      replacement_ratio: 0.5,
      finished: 0,
      early_end_ratio: null,
      timesheets: 0,
      on_time_ratio: null,
    },
  })
  expect(work).toMatchObject({
    ...{
      month_start_date: '2026-06-01',
      received: 0,
      response_ratio: null,
      median_hours_to_accept: null,
      started: 0,
    },
    ...{
      finished: 2,
      ended_early: 1,
      early_end_ratio: 0.5,
      timesheets: 2,
      timesheets_on_time: 1,
      on_time_ratio: 0.5,
    },
    ...{
      net_hours: '50.0000',
      spend: '1620.0000',
      carded_hours: '50.0000',
      carded_charge: '1620.0000',
      card_charge: '1500.0000',
    },
    charge_to_card_ratio: 1.08,
  })
})
