/** Draws a figure by week: bars if it adds up, else a line. A week that is not over is hatched. */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import { formatted, isSum, numberIn, onAxis } from '../format.ts'
import { type ChartParts, openOnClick, plotted } from './chart.ts'

interface Week {
  readonly end: Date
  readonly value: number
  readonly isOver: boolean
  readonly tip: string
  readonly row: PanelRow
}

const dayMs = 24 * 3_600_000
const height = 260

interface WeekColumns {
  readonly x: string
  readonly complete?: string
}

function weeksIn({ rows, figure }: ChartParts, { x, complete }: WeekColumns): Week[] {
  return rows
    .map(row => {
      const isOver = complete === undefined || row[complete] !== false
      const value = numberIn(row[figure.column])
      const tip = `Week ending ${formatted(row[x], 'date')}${isOver ? '' : ', not over yet'}\n${figure.label} ${formatted(row[figure.column], figure.unit)}`
      return { end: new Date(String(row[x])), value, isOver, tip, row }
    })
    .filter(({ value }) => !Number.isNaN(value))
}

/** Places weeks that end on different days, as companies configure, side by side so that they do not overlap. */
function spanOf(weeks: readonly Week[]): number {
  const gaps = weeks.slice(1).map((week, index) => week.end.getTime() - (weeks[index]?.end.getTime() ?? 0))
  return Math.min(7 * dayMs, ...gaps.filter(gap => gap > 0))
}

let drawn = 0

function hatching(id: string): () => SVGElement {
  return () => {
    const defs = document.createElementNS('http://www.w3.org/2000/svg', 'defs')
    defs.innerHTML = `<pattern id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" class="hatch-ground"/><rect width="2" height="5" class="hatch"/></pattern>`
    return defs
  }
}

function bars(weeks: readonly Week[], id: string): Plot.Markish[] {
  const span = spanOf(weeks)
  const data = [...weeks]
  return [
    hatching(id),
    Plot.rectY(data, {
      x1: week => new Date(week.end.getTime() + dayMs - span),
      x2: week => new Date(week.end.getTime() + dayMs),
      y: 'value',
      fill: week => (week.isOver ? 'var(--accent)' : `url(#${id})`),
      insetLeft: 0.5,
      insetRight: 0.5,
    }),
  ]
}

function line(weeks: readonly Week[]): Plot.Markish[] {
  const over = weeks.filter(({ isOver }) => isOver)
  return [
    Plot.lineY(over, { x: 'end', y: 'value', stroke: 'var(--accent)', strokeWidth: 2 }),
    Plot.dot([...weeks], {
      x: 'end',
      y: 'value',
      r: 3,
      fill: week => (week.isOver ? 'var(--accent)' : 'var(--panel)'),
      stroke: 'var(--accent)',
    }),
  ]
}

export function drawWeeks(parts: ChartParts, columns: WeekColumns): SVGSVGElement {
  const { figure, width, title, open } = parts
  const weeks = weeksIn(parts, columns)
  drawn += 1
  const svg = plotted(title, {
    width,
    height,
    marginLeft: 48,
    marginRight: 8,
    x: { type: 'utc', label: null, ticks: Math.max(2, Math.floor(width / 110)) },
    y: { label: null, zero: true, grid: true, ticks: 5, tickSize: 0, tickFormat: onAxis(figure.unit) },
    color: { type: 'identity' },
    marks: [
      ...(isSum(figure) ? bars(weeks, `hatch-${drawn}`) : line(weeks)),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.tip(weeks, Plot.pointerX({ x: 'end', y: 'value', title: 'tip' })),
    ],
  })
  openOnClick(svg, { layer: isSum(figure) ? 'rect' : 'dot', rows: weeks.map(({ row }) => row), open })
  return svg
}
