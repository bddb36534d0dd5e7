/** How many reach each step, and what share of the step before they are. */
import type { Row } from '../../answers.ts'
import type { Figure } from '../../panel.ts'
import { formatted, numberIn } from '../format.ts'
import { drawBars } from './bars.ts'
import type { ChartParts } from './chart.ts'

/** The steps of the only row, as rows. */
export function stepsOf(rows: readonly Row[], figures: readonly Figure[]): Row[] {
  const [row = {}] = rows
  return figures.map(({ column, label }, index) => {
    const reached = numberIn(row[column])
    const before = numberIn(row[figures[index - 1]?.column ?? ''])
    const kept = index === 0 || before === 0 ? null : reached / before
    const name = kept === null ? label : `${label}, ${formatted(kept, 'share')}`
    return { step: label, name, reached, of_step_before: kept }
  })
}

export const stepFigures: readonly Figure[] = [
  { column: 'step', label: 'Step', unit: 'text' },
  { column: 'reached', label: 'Workers', unit: 'count' },
  { column: 'of_step_before', label: 'Of the step before', unit: 'share' },
]

export function drawFunnel(parts: ChartParts, figures: readonly Figure[]): SVGSVGElement {
  const rows = stepsOf(parts.rows, figures)
  const figure: Figure = { column: 'reached', label: 'Workers', unit: 'count' }
  return drawBars({ ...parts, rows, figure }, { label: 'name', inOrder: true })
}
