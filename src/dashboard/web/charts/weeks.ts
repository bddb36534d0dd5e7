/**
 * Draws a figure by week: bars if it adds up, with what waits for approval on top, else a line. A week that is not settled is
 * hatched.
 */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'
import { formatted, isSum, numberIn, onAxis, written } from '../format.ts'
import { type ChartParts, openOnClick, plotted } from './chart.ts'

interface Week {
  readonly end: Date
  readonly value: number
  /** Waits for approval. */
  readonly pending: number
  readonly isSettled: boolean
  readonly tip: string
  readonly row: PanelRow
}

const dayMs = 24 * 3_600_000
const height = 260

interface WeekColumns {
  readonly x: string
  readonly settled?: string
}

function tipOf(
  row: PanelRow,
  figure: PanelFigure,
  { x, isSettled }: { x: string; isSettled: boolean },
): string {
  const week = `Week ending ${formatted(row[x], 'date')}${isSettled ? '' : ', not settled yet'}`
  const value = `${figure.label} ${written(row[figure.column], figure, 'whole')}`
  if (figure.pending === undefined) return `${week}\n${value}`
  return `${week}\n${value}\nWaiting for approval ${written(row[figure.pending], figure, 'whole')}`
}

function weeksIn({ rows, figure }: ChartParts, { x, settled }: WeekColumns): Week[] {
  return rows
    .map(row => {
      const isSettled = settled === undefined || row[settled] !== false
      const value = numberIn(row[figure.column])
      const pending = figure.pending === undefined ? 0 : numberIn(row[figure.pending])
      const tip = tipOf(row, figure, { x, isSettled })
      return { end: new Date(String(row[x])), value, pending, isSettled, tip, row }
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

/** The last settled week stands out; the others are its context. */
function bars(weeks: readonly Week[], id: string): Plot.Markish[] {
  const span = spanOf(weeks)
  const last = weeks.findLast(({ isSettled }) => isSettled)
  const solid = (week: Week): string => (week === last ? 'var(--accent)' : 'var(--context)')
  const data = [...weeks]
  const place = {
    x1: (week: Week) => new Date(week.end.getTime() + dayMs - span),
    x2: (week: Week) => new Date(week.end.getTime() + dayMs),
    insetLeft: 0.5,
    insetRight: 0.5,
  }
  return [
    hatching(id),
    Plot.rectY(data, {
      ...place,
      y: 'value',
      fill: week => (week.isSettled ? solid(week) : `url(#${id})`),
    }),
    Plot.rectY(
      data.filter(({ pending }) => pending > 0),
      {
        ...place,
        y1: 'value',
        y2: week => week.value + week.pending,
        fill: 'var(--accent)',
        fillOpacity: 0.25,
        ariaLabel: 'waiting',
      },
    ),
  ]
}

function line(weeks: readonly Week[]): Plot.Markish[] {
  const settled = weeks.filter(({ isSettled }) => isSettled)
  return [
    Plot.lineY(settled, { x: 'end', y: 'value', stroke: 'var(--accent)', strokeWidth: 2 }),
    Plot.dot([...weeks], {
      x: 'end',
      y: 'value',
      r: 3,
      fill: week => (week.isSettled ? 'var(--accent)' : 'var(--panel)'),
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
    marginLeft: 56,
    marginRight: 8,
    x: { type: 'utc', label: null, ticks: Math.max(2, Math.floor(width / 110)) },
    y: { label: null, zero: true, grid: true, ticks: 5, tickSize: 0, tickFormat: onAxis(figure) },
    color: { type: 'identity' },
    marks: [
      ...(isSum(figure) ? bars(weeks, `hatch-${drawn}`) : line(weeks)),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.tip(weeks, Plot.pointerX({ x: 'end', y: 'value', title: 'tip' })),
    ],
  })
  openOnClick(svg, { layer: isSum(figure) ? 'rect' : 'dot', rows: weeks.map(({ row }) => row), open })
  const waiting = weeks.filter(({ pending }) => pending > 0)
  openOnClick(svg, { layer: 'waiting', rows: waiting.map(({ row }) => row), open })
  return svg
}
