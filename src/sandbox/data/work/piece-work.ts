/** Piece work of a week: units and amounts per day. An expense pays it, so `values` leaves it out. */
import type { Draw } from '../draw.ts'
import { iso, partId } from '../identity.ts'
import { costCodes, type Trade } from '../names.ts'
import { add, type Shift, times } from './pay.ts'
import type { Placement } from './placements.ts'

export type PieceWork = NonNullable<Trade['pieceWork']>

/** The id of the piece rate in the company's generic rate. */
export function pieceRateId(companyId: string, { payPence }: PieceWork): string {
  return `${companyId.slice(0, 16)}${String(payPence).padStart(8, '0')}`
}

export function pieceTerms({ name, unit }: PieceWork) {
  const code = name.slice(0, 3).toUpperCase()
  return { code, name, unitLabel: unit, unitLabelPlural: `${unit}s`, frequency: 'daily' }
}

export function pieceValues({ payPence }: PieceWork, marginShare = 0.1) {
  const pay = payPence / 100
  const margin = Math.round(payPence * marginShare) / 100
  return { pay, emp: 0, margin, charge: add(pay, margin) }
}

interface PieceWeek {
  readonly pieceWork: PieceWork
  readonly placement: Placement
  readonly shifts: readonly Shift[]
  readonly createdMs: number
}

const summed = ['units', 'payValue', 'empValue', 'marginValue', 'chargeValue'] as const

export function pieceRateEntry(draw: Draw, { pieceWork, placement, shifts, createdMs }: PieceWeek) {
  const id = draw.id(createdMs)
  const values = pieceValues(pieceWork)
  const lines = shifts.map((shift, index) => {
    const units = draw.between(20, 60)
    return {
      id: partId(id, index),
      date: iso(shift.midnightMs),
      units,
      payValue: times(units, values.pay),
      empValue: 0,
      marginValue: times(units, values.margin),
      chargeValue: times(units, values.charge),
      comment: '',
      costCode: draw.pick(costCodes),
    }
  })
  const total = (name: (typeof summed)[number]) => lines.reduce((sum, line) => add(sum, line[name]), 0)
  const totals = summed.map(name => [name, total(name)] as const)
  return {
    id,
    pieceRateId: pieceRateId(placement.company.id, pieceWork),
    ...pieceTerms(pieceWork),
    rateType: placement.rateType,
    values,
    totals: Object.fromEntries(totals) as Record<(typeof summed)[number], number>,
    lines,
  }
}
