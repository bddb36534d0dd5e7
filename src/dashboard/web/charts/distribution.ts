/** Draws how often each number of days occurs, with the fences beyond which an acceptance is an outlier. */
import * as Plot from '@observablehq/plot'
import { formatted, numberIn, onAxis } from '../format.ts'
import { type ChartParts, plotted } from './chart.ts'

const height = 260

interface DistributionColumns {
  readonly count: string
  readonly fences: readonly [lower: string, upper: string]
}

/** Leaves out a fence below the smallest day: it excludes nothing and would only stretch the axis. */
function fencesIn(
  { rows, figure }: ChartParts,
  fences: DistributionColumns['fences'],
): { at: number; text: string }[] {
  const min = Math.min(...rows.map(row => numberIn(row[figure.column])))
  return fences
    .map(column => numberIn(rows[0]?.[column]))
    .filter(at => !Number.isNaN(at) && at >= min)
    .map(at => ({ at, text: `outliers beyond ${formatted(at, 'days')}` }))
}

export function drawDistribution(parts: ChartParts, { count, fences }: DistributionColumns): SVGSVGElement {
  const { rows, figure, width, title } = parts
  const lines = fencesIn(parts, fences)
  const [lower, upper] = fences.map(column => numberIn(rows[0]?.[column]))
  const days = rows.map(row => {
    const day = numberIn(row[figure.column])
    const isOutlier = day + 1 <= (lower ?? Number.NaN) || day > (upper ?? Number.NaN)
    const tip = `${day} to ${day + 1} days\n${formatted(row[count], 'count')} acceptances`
    return { day, count: numberIn(row[count]), isOutlier, tip }
  })
  return plotted(title, {
    width,
    height,
    marginLeft: 40,
    marginTop: 28,
    marginBottom: 40,
    x: { label: 'days', labelAnchor: 'center', labelArrow: false, ticks: Math.floor(width / 80) },
    y: { label: null, grid: true, ticks: 5, tickSize: 0, tickFormat: onAxis({ unit: 'count' }) },
    color: { type: 'identity' },
    marks: [
      Plot.rectY(days, {
        x1: 'day',
        x2: one => one.day + 1,
        y: 'count',
        fill: one => (one.isOutlier ? 'var(--warning)' : 'var(--accent)'),
        insetLeft: 0.5,
        insetRight: 0.5,
      }),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.ruleX(lines, { x: 'at', stroke: 'var(--text)', strokeDasharray: '3 3' }),
      Plot.text(lines, { x: 'at', text: 'text', frameAnchor: 'top', dy: -14, textAnchor: 'middle' }),
      Plot.tip(days, Plot.pointerX({ x: one => one.day + 0.5, y: 'count', title: 'tip' })),
    ],
  })
}
