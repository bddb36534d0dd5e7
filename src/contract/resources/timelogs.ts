/** The shifts that make up a timesheet, and the cost codes their hours go to. */
import {
  dayOf,
  id,
  keyOf,
  money,
  ofParent,
  ofRoot,
  ordinal,
  quantity,
  text,
  timestamp,
} from '../fields/column.ts'
import { costCode, type Figures, rateSet } from '../fields/shared-columns.ts'
import { each, fact } from '../fields/table.ts'

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
  }) as unknown as Figures<`values.${Side}.${'standard' | 'overtime' | 'total'}`>

export const timelogs = fact('timelog', 'One row per timelog: a shift of a timesheet.', {
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
  work_date: dayOf('work_at', 'Day of the shift.'),
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
