/** Errors in marts that only one of several conditions of a check can tell. */
import type { Planted } from './planting.ts'

const sides: readonly (readonly [check: string, mart: string, change: string])[] = [
  ['mart_fill_totals', 'programme_fill', 'requisitions = requisitions + 1'],
  ['mart_fill_totals', 'programme_fill', 'filled_seats = seats + 1'],
  ['mart_funnel_totals', 'requisition_funnel', 'submitted = submitted + 1'],
  ['mart_funnel_totals', 'requisition_funnel', 'filled = filled + 1'],
  ['mart_headcount_flow', 'headcount_weekly', 'active_end = active_end + 1'],
  ['mart_headcount_flow', 'headcount_weekly', 'closing_workers = closing_workers + 1'],
  ['mart_ledger_totals', 'invoice_ledger', 'final_value = final_value + 1'],
  [
    'mart_ledger_totals',
    'invoice_ledger',
    "final_value = final_value + case when perspective = 'client' then 1 else 0 end",
  ],
  [
    'mart_match_rows',
    'invoice_match',
    "invoice_value = invoice_value + case when perspective = 'client' then 1 else 0 end",
  ],
  ['mart_lost_totals', 'lost_placements', 'with_reason = losses + 1'],
  ['mart_month_end_unchanged', 'accrual_month_end', 'recorded_records = recorded_records + 1'],
  ['mart_payment_totals', 'payment_ageing', 'issued_value = issued_value + 1000000'],
  ['mart_payment_totals', 'payment_ageing', 'open_value = open_value + 1000000'],
  ['mart_placement_counts', 'time_to_fill', 'accepted_without_worker = raw_count + 1'],
  ['mart_placement_counts', 'time_to_fill', 'time_to_submit_count = raw_count + 1'],
  ['mart_placement_counts', 'time_to_fill', 'submit_to_accept_count = raw_count + 1'],
  ['mart_placement_counts', 'time_to_fill', 'time_to_last_seat_count = raw_count + 1'],
  ['mart_retention_falls', 'retention_curve', 'retained = case when weeks = 1 then 0 else retained end'],
  [
    'mart_retention_falls',
    'retention_curve',
    'workers = case when weeks = 4 then workers + 1000 else workers end',
  ],
  ['mart_scorecard_parts', 'supplier_scorecard', 'tracked = interviewed - 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'interviewed = offers_made - 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'replaced = started + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'ended_early = finished + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'timesheets_on_time = timesheets_timed + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'timesheets_timed = timesheets + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'filled_of_offered = offered + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'programme_filled_seats = programme_seats + 1'],
  ['mart_scorecard_parts', 'supplier_scorecard', 'carded_hours = net_hours + 1'],
  ['mart_scorecard_totals', 'supplier_scorecard', 'net_hours = net_hours + 1'],
  ['mart_stage_flow', 'stage_duration', 'measured_exits = exits + 1'],
  ['mart_workforce_flow', 'workforce_flow', 'new_starters = starters + 1'],
  [
    'mart_workforce_flow',
    'workforce_flow',
    'opening_workers = opening_workers + 1, closing_workers = closing_workers + 1',
  ],
]

export const plantedOnOneSide: readonly Planted[] = sides.map(([check, mart, change]) => ({
  check,
  subject: `mart.${mart}`,
  statements: [`update mart.${mart} set ${change}`],
}))
