/** Work of a timesheet that is paid by the piece rather than by the hour. */
import {
  dayOf,
  freeText,
  id,
  money,
  ofParent,
  ofRoot,
  ordinal,
  quantity,
  ref,
  text,
  timestamp,
} from '../fields/column.ts'
import { costCode, type Figures, rateSet } from '../fields/shared-columns.ts'
import { each, fact } from '../fields/table.ts'

const lineValues = <const Side extends string>(prefix: string, side: Side) =>
  ({
    [`${prefix}pay_value`]: money(`${side}payValue`, 'Pay for the pieces.'),
    [`${prefix}emp_value`]: money(`${side}empValue`, 'Employer cost of the pieces.'),
    [`${prefix}margin_value`]: money(`${side}marginValue`, 'Margin on the pieces.'),
    [`${prefix}charge_value`]: money(`${side}chargeValue`, 'Charge for the pieces.'),
  }) as unknown as Figures<`${Side}${'pay' | 'emp' | 'margin' | 'charge'}Value`>

const pieceRateLines = fact('piece_rate_line', 'One row per day and cost code of a piece-rate entry.', {
  piece_rate_line_id: id('id', 'Id of the line.'),
  piece_rate_entry_id: ofParent('piece_rate_entry_id'),
  timesheet_id: ofRoot('timesheet_id'),
  line_ordinal: ordinal(),
  work_at: timestamp('date', 'Day of the work, as the service writes it.'),
  work_date: dayOf('work_at', 'Day of the work.'),
  units: quantity('units', 'Pieces that were done.'),
  ...lineValues('', ''),
  comment: freeText('comment', 'Comment.'),
  company_id: ofRoot('company_id'),
  ...costCode('costCode'),
})

export const pieceRateEntries = fact('piece_rate_entry', 'One row per piece-rate entry of a timesheet.', {
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
