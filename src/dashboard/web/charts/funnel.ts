/** Draws how many workers reach each step, and their share of the previous step. */
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'
import { formatted, numberIn } from '../format.ts'
import { drawBars } from './bars.ts'
import type { ChartParts } from './chart.ts'

/** The steps of the only row, as rows. */
export function stepsOf(rows: readonly PanelRow[], figures: readonly PanelFigure[]): PanelRow[] {
  const [row = {}] = rows
  return figures.map(({ column, label }, index) => {
    const reached = numberIn(row[column])
    const before = numberIn(row[figures[index - 1]?.column ?? ''])
    const shareKept = index === 0 || before === 0 ? null : reached / before
    const name = shareKept === null ? label : `${label}, ${formatted(shareKept, 'share')}`
    return { step: label, name, reached, of_step_before: shareKept }
  })
}

export const stepFigures: readonly PanelFigure[] = [
  { column: 'step', label: 'Step', unit: 'text' },
  { column: 'reached', label: 'Workers', unit: 'count' },
  { column: 'of_step_before', label: 'Of the previous step', unit: 'share' },
]

export function drawFunnel(parts: ChartParts, figures: readonly PanelFigure[]): SVGSVGElement {
  const rows = stepsOf(parts.rows, figures)
  const figure: PanelFigure = { column: 'reached', label: 'Workers', unit: 'count' }
  return drawBars({ ...parts, rows, figure }, { label: 'name', inOrder: true })
}
