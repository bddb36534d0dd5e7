/**
 * Timesheets: the work of a worker in a week, with pay and charge; the shifts that it is made of, and work that is paid by the
 * piece rather than by the hour.
 */
import {
  bookkeeping,
  dayWrittenIn,
  derived,
  freeText,
  id,
  idOf,
  integer,
  keyOf,
  money,
  named,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  quantity,
  ref,
  related,
  text,
  timestamp,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import {
  buckets,
  changeTimes,
  costCode,
  type FigureColumns,
  rateSet,
  rateSets,
} from '../fields/shared-columns.ts'
import { bridge, each, fact } from '../fields/table.ts'
import { submissionAnswers } from './answers.ts'

const timelogCostCodes = fact('timelog_cost_code', 'One row per cost code that hours of a timelog go to.', {
  timelog_cost_code_key: keyOf('timelog_id', 'allocation_ordinal'),
  timelog_id: ofParent('timelog_id'),
  timesheet_id: ofRoot('timesheet_id'),
  allocation_ordinal: ordinal(),
  hours: quantity('hours', 'Hours that go to the cost code.'),
  company_id: ofRoot('company_id'),
  ...costCode('costCode'),
})

const sides = { pay: 'Pay', emp: 'Employer cost', margin: 'Margin', charge: 'Charge' } as const

const hourValue = <const Side extends keyof typeof sides>(side: Side) =>
  ({
    [`${side}_standard_value`]: money(
      `values.${side}.standard`,
      `${sides[side]} of the hours at the standard rate.`,
    ),
    [`${side}_overtime_value`]: money(
      `values.${side}.overtime`,
      `${sides[side]} of the hours at the overtime rate.`,
    ),
    [`${side}_total_value`]: money(`values.${side}.total`, `${sides[side]} of all hours.`),
  }) as unknown as FigureColumns<`values.${Side}.${'standard' | 'overtime' | 'total'}`>

const timelogs = fact('timelog', 'One row per timelog: a shift of a timesheet.', {
  timelog_id: id('id', 'Id of the timelog.'),
  timesheet_id: ofRoot('timesheet_id'),
  worker_id: ofRoot('worker_id'),
  company_id: ofRoot('company_id'),
  project_id: ofRoot('project_id'),
  site_id: ofRoot('site_id'),
  agency_id: ofRoot('agency_id'),
  timelog_ordinal: ordinal(),
  status: text('status', 'State of the timelog.'),
  work_at: timestamp('date', 'Day of the shift, as the service writes it.'),
  work_date: dayWrittenIn('work_at', 'Day of the shift.'),
  start_at: timestamp('start', 'Start of the shift.'),
  end_at: timestamp('end', 'End of the shift.'),
  shift_type: text('shiftType', 'Kind of shift.'),
  break_minutes: quantity('breaks', 'Unpaid breaks, in minutes.'),
  rate_description: text('rateDescription', 'Rate that applies, in words.'),
  standard_hours: quantity('hours.standard', 'Hours at the standard rate.'),
  overtime_hours: quantity('hours.overtime', 'Hours at the overtime rate.'),
  total_hours: quantity('hours.total', 'Hours at both rates.'),
  ...rateSet('rates', 'rate', 'of the shift'),
  ...hourValue('pay'),
  ...hourValue('emp'),
  ...hourValue('margin'),
  ...hourValue('charge'),
  cost_codes: each('costCodeAllocations', timelogCostCodes),
})

const lineValues = <const Side extends string>(prefix: string, side: Side) =>
  ({
    [`${prefix}pay_value`]: money(`${side}payValue`, 'Pay for the pieces.'),
    [`${prefix}emp_value`]: money(`${side}empValue`, 'Employer cost of the pieces.'),
    [`${prefix}margin_value`]: money(`${side}marginValue`, 'Margin on the pieces.'),
    [`${prefix}charge_value`]: money(`${side}chargeValue`, 'Charge for the pieces.'),
  }) as unknown as FigureColumns<`${Side}${'pay' | 'emp' | 'margin' | 'charge'}Value`>

const pieceRateLines = fact('piece_rate_line', 'One row per day and cost code of a piece-rate entry.', {
  piece_rate_line_id: id('id', 'Id of the line.'),
  piece_rate_entry_id: ofParent('piece_rate_entry_id'),
  timesheet_id: ofRoot('timesheet_id'),
  line_ordinal: ordinal(),
  work_at: timestamp('date', 'Day of the work, as the service writes it.'),
  work_date: dayWrittenIn('work_at', 'Day of the work.'),
  units: quantity('units', 'Pieces completed that day.'),
  ...lineValues('', ''),
  comment: freeText('comment', 'Comment.'),
  company_id: ofRoot('company_id'),
  ...costCode('costCode'),
})

const pieceRateEntries = fact('piece_rate_entry', 'One row per piece-rate entry of a timesheet.', {
  piece_rate_entry_id: id('id', 'Id of the entry.'),
  timesheet_id: ofRoot('timesheet_id'),
  entry_ordinal: ordinal(),
  piece_rate_id: ref('pieceRateId', 'piece_rate', {
    code: 'code',
    name: 'name',
    unit_label: 'unitLabel',
    unit_label_plural: 'unitLabelPlural',
    frequency: 'frequency',
  }),
  rate_type: text('rateType', 'Engagement type: cis, paye or psc.'),
  ...rateSet('values', 'unit', 'for a unit'),
  total_units: quantity('totals.units', 'Units of all lines.'),
  ...lineValues('total_', 'totals.'),
  lines: each('lines', pieceRateLines),
})

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
  'One row per configured approver, who may differ from the person who approved.',
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
    week_ending_date: dayWrittenIn('week_ending_at', 'Last day of the week, as the company counts weeks.'),
    approved_at: timestamp('approvedDate', 'When it was approved.'),
    ...changeTimes,
    version: bookkeeping(integer('version', 'Version of the record.')),
    net_hours: quantity('netHours', 'Hours after breaks.'),
    approval_requested_by_id: text(
      'approvalRequestedBy.id',
      'Who last requested approval: a user or a worker, see the type.',
    ),
    approval_requested_by_name: {
      ...text('approvalRequestedBy.name', 'Name of who requested it.'),
      privacy: 'personal',
    },
    approval_requested_by_type: text('approvalRequestedBy.type', 'Kind of who requested it: user or worker.'),
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
