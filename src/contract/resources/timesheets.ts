/** Timesheets: the work of a worker in a week, with pay and charge. */

import {
  bookkeeping,
  dayOf,
  derived,
  id,
  idOf,
  integer,
  keyOf,
  money,
  named,
  ofRoot,
  oneOf,
  ordinal,
  quantity,
  related,
  text,
  timestamp,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { buckets, changeTimes, rateSets } from '../fields/shared-columns.ts'
import { bridge, each, fact } from '../fields/table.ts'
import { submissionAnswers } from './answers.ts'
import { pieceRateEntries } from './piece-rates.ts'
import { timelogs } from './timelogs.ts'

/** Keys of `rates`: weekday, weekday night, weekend night, bank holiday, bank holiday night, Saturday, Sunday, overtime. */
const rateKeys = ['wd', 'wdNw', 'weNw', 'bh', 'bhNight', 'sat', 'sun', 'ot'] as const

/** Buckets of `values.pay` and `values.charge`; `total` is their sum and a column of its own. */
const valueBuckets = [
  'wdBasic',
  'wdOvertime',
  'wdNightwork',
  'weNightwork',
  'bankHoliday',
  'bankHolidayNight',
  'saturday',
  'sunday',
  'saturdayNightwork',
  'sundayNightwork',
] as const

const approvers = bridge(
  'timesheet_approver',
  'One row per configured approver, who need not be who approved.',
  {
    timesheet_approver_key: keyOf('timesheet_id', 'approver_ordinal'),
    timesheet_id: ofRoot('timesheet_id'),
    approver_ordinal: ordinal(),
    user_id: named('', 'user'),
  },
)

export const timesheets = resource({
  name: 'timesheets',
  entity: 'timesheet',
  description: 'Timesheets with their timelogs, piece rates, rates, values and answers.',
  path: '/timesheets',
  query: { includeTimelogs: 'true' },
  read: {
    strategy: 'scan',
    changedSince: { dateField: 'updatedAt' },
    createdBetween: { dateField: 'createdAt' },
  },
  updatedAt: 'updatedAt',
  version: 'version',
  metric: 'workersOverHours',
  table: fact('timesheet', 'One row per timesheet.', {
    timesheet_id: id('id', 'Id of the timesheet.'),
    reference: text('reference', 'Reference.'),
    status: oneOf('status', ['pending', 'pending_approval', 'approved', 'cancelled', 'absent'], 'State.'),
    worker_id: named('worker', 'worker'),
    company_id: named('company', 'company'),
    project_id: named('project', 'project'),
    site_id: named('site', 'site'),
    agency_id: named('agency', 'agency'),
    assignment_id: related(idOf('assignments', text('assignment.id', 'Id of the assignment.')), {
      of: 'assignments',
      share: 0.1,
      because: 'new terms and ends show in its timesheets, but most timesheets change only in status',
    }),
    assignment_reference: text('assignment.reference', 'Reference of the assignment.'),
    pay_type: text('payType', 'hourly or daily.'),
    rate_type: text('rateType', 'Engagement type: cis, paye or psc.'),
    start_at: timestamp('start', 'Start of the period.'),
    end_at: timestamp('end', 'End of the period.'),
    week_ending_at: timestamp('weekEnding', 'End of the week, as the company counts weeks.'),
    week_ending_date: dayOf('week_ending_at', 'Last day of the week, as the company counts weeks.'),
    approved_at: timestamp('approvedDate', 'When it was approved.'),
    ...changeTimes,
    version: bookkeeping(integer('version', 'Version of the record.')),
    net_hours: quantity('netHours', 'Hours after breaks.'),
    approval_requested_by_id: text(
      'approvalRequestedBy.id',
      'Who asked for approval last; user or worker, see the type.',
    ),
    approval_requested_by_name: {
      ...text('approvalRequestedBy.name', 'Name of who asked.'),
      privacy: 'personal',
    },
    approval_requested_by_type: text('approvalRequestedBy.type', 'Kind of who asked.'),
    approved_by_user_id: named('approvedBy', 'user'),
    ...rateSets('rates', rateKeys),
    ...buckets('values.pay', 'pay', valueBuckets),
    pay_total: money('values.pay.total', 'Pay, all buckets.'),
    ...buckets('values.charge', 'charge', valueBuckets),
    charge_total: money('values.charge.total', 'Charge, all buckets.'),
    expense_value: money('values.expense', 'Expenses claimed with it.'),
    margin: derived('money', 'charge_total - pay_total', 'Charge less pay; employer costs are inside.'),
    approvers: each('timesheetApprovers', approvers),
    piece_rates: each('pieceRateEntries', pieceRateEntries),
    timelogs: each('timelogs', timelogs),
    answers: submissionAnswers('timesheet', 'timesheet_id'),
  }),
})
