/** Writes how a figure differs from the period before. */
import type { PanelRow } from '../answers.ts'
import { beforeFigure } from '../comparison.ts'
import { changeInWords, relativeChange } from '../headline.ts'
import type { PanelFigure } from '../panel.ts'
import { numberIn, written } from './format.ts'

const points = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** The difference of two shares, as a percentage of a percentage misleads. */
function pointsInWords(now: number, before: number): string {
  const size = points.format(Math.abs(now - before) * 100)
  if (size === '0') return 'unchanged'
  return `${now > before ? 'up' : 'down'} ${size} ${size === '1' ? 'point' : 'points'}`
}

/** `up 12% on £13,120`; `nothing before to compare with` where the period before has no such figure. */
export function changeFromBefore(row: PanelRow, figure: PanelFigure): string {
  const [now, before] = [figure, beforeFigure(figure)].map(({ column }) => numberIn(row[column])) as [
    number,
    number,
  ]
  if (Number.isNaN(before)) return 'nothing before to compare with'
  if (Number.isNaN(now)) return `was ${written(before, figure, 'whole')}`
  const on = `on ${written(before, figure, 'whole')}`
  if (figure.unit === 'share') return `${pointsInWords(now, before)} ${on}`
  const change = relativeChange(now, before)
  return change === null ? `from ${written(before, figure, 'whole')}` : `${changeInWords(change)} ${on}`
}

/** A line of a tip; none where nothing is compared. */
export const beforeLine = (row: PanelRow, figure: PanelFigure): string[] =>
  row[beforeFigure(figure).column] === undefined ? [] : [`Period before: ${changeFromBefore(row, figure)}`]
