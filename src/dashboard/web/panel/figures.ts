/** Lists the figures that a panel can draw, and draws them. */
import type { PanelAnswer, PanelRow } from '../../answers.ts'
import { beforeFigure, comparedFigures } from '../../comparison.ts'
import type { PanelDrawing, PanelFigure } from '../../panel.ts'
import { drawBars } from '../charts/bars.ts'
import type { ChartParts } from '../charts/chart.ts'
import { drawDistribution } from '../charts/distribution.ts'
import { drawFunnel, stepFigures, stepsOf } from '../charts/funnel.ts'
import { drawHeat } from '../charts/heat.ts'
import { drawWeeks } from '../charts/weeks.ts'
import { tilesOf, verdictsOf } from './tiles.ts'

/** Figures that a reader chooses between; the chart shows one at a time. */
export function offered({ show }: PanelAnswer): readonly PanelFigure[] {
  if (show.kind === 'weeks' || show.kind === 'bars') return show.figures
  if (show.kind === 'heat') return [show.figure]
  return show.kind === 'distribution' ? [show.x] : []
}

const textual = (column: string, label: string): PanelFigure => ({ column, label, unit: 'text' })
const dated = (column: string, label: string): PanelFigure => ({ column, label, unit: 'date' })

interface Tabular {
  readonly figures: readonly PanelFigure[]
  readonly rows: readonly PanelRow[]
}

/** Each figure that is compared, followed by that of the period before. */
function withBefore(figures: readonly PanelFigure[], show: PanelDrawing): PanelFigure[] {
  const compared = new Set(comparedFigures(show).map(({ column }) => column))
  return figures.flatMap(one => (compared.has(one.column) ? [one, beforeFigure(one)] : [one]))
}

/** The same rows as a table, which stands behind every chart. */
export function tabular(panel: PanelAnswer): Tabular {
  const { figures, rows } = tableBehind(panel)
  return { figures: panel.isCompared ? withBefore(figures, panel.show) : figures, rows }
}

function tableBehind({ show, rows, title }: PanelAnswer): Tabular {
  switch (show.kind) {
    case 'weeks': {
      const { settled } = show
      const flags: PanelFigure[] =
        settled === undefined ? [] : [{ column: settled, label: 'Settled', unit: 'flag' }]
      return { figures: [dated(show.x, 'Week ending'), ...show.figures, ...flags], rows }
    }
    case 'bars':
      return {
        figures: [
          textual(
            show.label,
            title.replace(/^.*by /i, '').replace(/^./, one => one.toUpperCase()),
          ),
          ...show.figures,
        ],
        rows,
      }
    case 'distribution':
      return {
        figures: [
          { ...show.x, unit: 'count' },
          { column: show.count, label: 'Acceptances', unit: 'count' },
        ],
        rows,
      }
    case 'heat':
      return { figures: [textual(show.y, 'Site'), dated(show.x, 'Week ending'), show.figure], rows }
    case 'funnel':
      return { figures: stepFigures, rows: stepsOf(rows, show.figures) }
    case 'verdicts':
      return {
        figures: [textual('topic', 'Question'), textual('state', 'Answer'), textual('command', 'Command')],
        rows,
      }
    case 'headline':
      return { figures: [show.figure], rows }
    default:
      return { figures: show.figures, rows }
  }
}

/** Undefined for a panel that is only a table. */
export function drawn(
  { show, isCompared }: PanelAnswer,
  parts: ChartParts,
): SVGSVGElement | HTMLElement | undefined {
  switch (show.kind) {
    case 'tiles':
      return tilesOf(parts.rows[0] ?? {}, show.figures, isCompared ? comparedFigures(show) : [])
    case 'verdicts':
      return verdictsOf(parts.rows)
    case 'weeks':
      return drawWeeks(parts, show)
    case 'bars':
      return drawBars(parts, show)
    case 'distribution':
      return drawDistribution(parts, show)
    case 'heat':
      return drawHeat(parts, show)
    case 'funnel':
      return drawFunnel(parts, show.figures)
    default:
      return undefined
  }
}
