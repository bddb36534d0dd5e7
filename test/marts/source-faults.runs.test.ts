/** What the service gets wrong is a warning that names its records: no build fails, and no check of severity error. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { everyCheck, martGate } from '../../src/marts/checks/gate.ts'
import { failedRows, runCheck } from '../../src/marts/checks/run.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { checkMoment } from './planted.ts'

const filled = useFilled()
const marts = readMarts()
const checks = everyCheck(marts)

const one = (table: string, key: string, place = 0): string =>
  `${key} = (select x.${key} from star.${table} as x where not x.is_deleted order by x.${key} limit 1 offset ${place})`

/** A sheet that is approved and whose assignment has no order and no card, so that nothing manages its spend. */
const approved = `status = 'approved' and week_ending_date is not null`

/** Records as the service could send them, and the check that names each; null where a mart copes. */
const faults: readonly (readonly [check: string | null, statement: string])[] = [
  [
    'allocated_hours',
    `update star.fact_timelog_cost_code set hours = hours + 100 where ${one('fact_timelog_cost_code', 'timelog_cost_code_key')}`,
  ],
  [
    'timelog_hours',
    `update star.fact_timelog set total_hours = total_hours + 3 where ${one('fact_timelog', 'timelog_id')}`,
  ],
  [
    'piece_rate_lines',
    `update star.fact_piece_rate_line set units = units + 1 where ${one('fact_piece_rate_line', 'piece_rate_line_id')}`,
  ],
  [
    'accepted_values',
    `update star.fact_timesheet set status = 'mislaid' where ${one('fact_timesheet', 'timesheet_id')}`,
  ],
  [
    null,
    `update star.fact_timesheet set net_hours = -net_hours, charge_total = -charge_total where ${approved} and substr(md5(timesheet_id), 1, 1) < '6'`,
  ],
  [
    'dates_in_order',
    `update star.fact_assignment set end_date = start_date - 20 where ${one('fact_assignment', 'assignment_id', 2)}`,
  ],
  [
    'dates_in_order',
    `update star.fact_requisition_agency set accepted_at = received_at - interval '40 days' where accepted_at is not null and substr(md5(requisition_agency_key), 1, 1) = '1'`,
  ],
  [
    null,
    `update star.fact_requisition_agency set received_at = null where substr(md5(requisition_agency_key), 1, 1) = '2'`,
  ],
  [
    null,
    `update star.fact_requisition_agency set assigned = 7, offered = null where substr(md5(requisition_agency_key), 1, 1) = '3'`,
  ],
  [
    null,
    `update star.fact_requisition set quantity = 0, assigned_total = 5, open_quantity = -5 where ${one('fact_requisition', 'requisition_id', 3)}`,
  ],
  [
    null,
    `update star.fact_requisition set quantity = -1 where ${one('fact_requisition', 'requisition_id', 4)}`,
  ],
  [
    'dates_in_order',
    `update star.fact_invoice set confirmed_at = created_at - interval '70 days' where substr(md5(invoice_id), 1, 1) < '4' and confirmed_at is not null`,
  ],
  [
    null,
    `update star.fact_invoice set payment_json = '{"paymentDate":"2019-01-07"}' where substr(md5(invoice_id), 1, 1) > 'a'`,
  ],
  [null, `update star.fact_invoice set final_total = -final_total where substr(md5(invoice_id), 1, 1) = '5'`],
  [
    null,
    `insert into star.fact_requisition_agency select * replace (requisition_agency_key || 'b' as requisition_agency_key) from star.fact_requisition_agency where substr(md5(requisition_agency_key), 1, 1) = '6'`,
  ],
  [
    null,
    `update star.fact_submission_stage set current_stage = 'unheard of' where ${one('fact_submission_stage', 'submission_stage_key')}`,
  ],
  [null, `update star.fact_timesheet set worker_id = '-1' where ${one('fact_timesheet', 'timesheet_id', 5)}`],
  [
    null,
    `update star.fact_assignment set shift_monday_start = 8, shift_monday_end = 8, shift_monday_break = 30 where substr(md5(assignment_id), 1, 1) < '5'`,
  ],
  [null, `update star.fact_expense set value = -value where ${one('fact_expense', 'expense_id')}`],
  [
    'week_ending_weekday',
    `update star.fact_timesheet set week_ending_date = week_ending_date + 3 where ${one('fact_timesheet', 'timesheet_id', 6)}`,
  ],
]

test('what the service got wrong stops no build and is no error', async () => {
  const { engine } = await filled.duckdb()
  for (const [, statement] of faults) await engine.run(statement)
  const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }
  const signal = new AbortController().signal
  const effects = {
    engine,
    clock,
    rng: seededRng(1),
    signal,
    version: 'test',
    gate: martGate(checks),
    onMart: () => undefined,
  }
  const { marts: built } = await buildMarts(effects, { marts, names: [], all: true })
  expect(built.filter(({ state }) => state !== 'built')).toEqual([])
  const found = []
  for (const check of checks) {
    const result = await runCheck(engine, check, checkMoment)
    if (failedRows(result) > 0) found.push(result)
  }
  expect(
    found.filter(({ severity }) => severity === 'error').map(({ name, failures }) => [name, failures]),
  ).toEqual([])
  const named = found.map(({ name }) => name)
  expect(named).toEqual(expect.arrayContaining(faults.flatMap(([check]) => check ?? [])))
}, 120_000)
