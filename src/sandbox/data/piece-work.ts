/** Piece work of a week: units per day and what they come to. Not part of `values`: an expense settles it. */
import type { Rng } from '../../lib/rng.ts'
import { between, pick } from './draw.ts'
import { iso, objectId, partId } from './identity.ts'
import { costCodes, type Trade } from './names.ts'
import { add, type Shift, times } from './pay.ts'
import type { Placement } from './placements.ts'

interface PieceWeek {
  readonly pieceWork: NonNullable<Trade['pieceWork']>
  readonly placement: Placement
  readonly shifts: readonly Shift[]
  readonly createdMs: number
}

export function pieceRateEntry(rng: Rng, { pieceWork, placement, shifts, createdMs }: PieceWeek) {
  const id = objectId(rng, createdMs)
  const pay = pieceWork.payPence / 100
  const margin = Math.round(pieceWork.payPence * 0.1) / 100
  const values = { pay, emp: 0, margin, charge: add(pay, margin) }
  const lines = shifts.map((shift, index) => {
    const units = between(rng, 20, 60)
    return {
      id: partId(id, index),
      date: iso(shift.dayMs),
      units,
      payValue: times(units, values.pay),
      empValue: 0,
      marginValue: times(units, values.margin),
      chargeValue: times(units, values.charge),
      comment: '',
      costCode: pick(rng, costCodes),
    }
  })
  const total = (name: 'units' | 'payValue' | 'empValue' | 'marginValue' | 'chargeValue') =>
    lines.reduce((sum, line) => add(sum, line[name]), 0)
  return {
    id,
    pieceRateId: `${placement.company.id.slice(0, 16)}${String(pieceWork.payPence).padStart(8, '0')}`,
    code: pieceWork.name.slice(0, 3).toUpperCase(),
    name: pieceWork.name,
    unitLabel: pieceWork.unit,
    unitLabelPlural: `${pieceWork.unit}s`,
    frequency: 'daily',
    rateType: placement.rateType,
    values,
    totals: {
      units: total('units'),
      payValue: total('payValue'),
      empValue: total('empValue'),
      marginValue: total('marginValue'),
      chargeValue: total('chargeValue'),
    },
    lines,
  }
}
