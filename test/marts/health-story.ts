/** What runs have found out: lists that were read, checks that failed, figures of the service that were compared. */
import { now, type Row, type Story } from './story.ts'

const result = (check: string, run: number, failed: Readonly<Record<string, number>> = {}): Row => ({
  run_id: `run-${run}`,
  check_name: check,
  subject: Object.keys(failed)[0] ?? '',
  severity: check === 'keys_unique' ? 'error' : 'warn',
  failed_rows: Object.values(failed)[0] ?? 0,
  sample_keys: '',
  checked_at: `2026-11-0${run}T03:00:00Z`,
})

const list = (resource: string, total: number): Row => ({
  resource,
  remembered_total: total,
  backfilled_at: now,
  run_id: 'run-1',
  moved_at: now,
})

const figure = (metric: string, name: string, verdict: string): Row => ({
  run_id: 'run-1',
  metric,
  group_by: 'all',
  group_key: '',
  group_label: 'all',
  figure: name,
  verdict,
  definition_id: 'default',
  checked_at: now,
})

export const health: Story = {
  'ops.watermark': [list('timesheets', 8), list('companies', 1)],
  'ops.check_result': [
    result('keys_unique', 1, { 'star.fact_timesheet': 7 }),
    result('keys_unique', 2),
    result('timelog_hours', 2, { 'star.fact_timesheet': 3 }),
    result('allocated_hours', 2, { 'star.fact_timelog_cost_code': 2 }),
  ],
  'ops.crosscheck': [
    figure('timeToFill', 'rawCount', 'equal'),
    figure('timeToFill', 'count', 'explained'),
    figure('workersOverHours', 'workerWeeks', 'equal'),
    figure('workersOverHours', 'totalHours', 'unexplained'),
  ],
}
