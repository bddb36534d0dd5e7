/**
 * Draws a figure by week: bars if it adds up, with what waits for approval on top, else a line. A week that is not settled is
 * hatched.
 */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import { beforeFigure } from '../../comparison.ts'
import type { PanelFigure } from '../../panel.ts'
import { beforeLine } from '../before.ts'
import { formatted, isSum, numberIn, onAxis, written } from '../format.ts'
import { type ChartParts, hatchId, hatching, openOnClick, plotted } from './chart.ts'

interface Week {
  readonly end: Date
  readonly value: number
  /** Waits for approval. */
  readonly pending: number
  /** In the period before; NaN without one. */
  readonly before: number
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
  const lines = [week, `${figure.label} ${written(row[figure.column], figure, 'whole')}`]
  if (figure.pending !== undefined)
    lines.push(`Waiting for approval ${written(row[figure.pending], figure, 'whole')}`)
  return [...lines, ...beforeLine(row, figure)].join('\n')
}

function weeksIn({ rows, figure }: ChartParts, { x, settled }: WeekColumns): Week[] {
  return rows
    .map(row => {
      const isSettled = settled === undefined || row[settled] !== false
      const value = numberIn(row[figure.column])
      const pending = figure.pending === undefined ? 0 : numberIn(row[figure.pending])
      const before = numberIn(row[beforeFigure(figure).column])
      const tip = tipOf(row, figure, { x, isSettled })
      return { end: new Date(String(row[x])), value, pending, before, isSettled, tip, row }
    })
    .filter(({ value }) => !Number.isNaN(value))
}

/** Places weeks that end on different days, as companies configure, side by side so that they do not overlap. */
function spanOf(weeks: readonly Week[]): number {
  const gaps = weeks.slice(1).map((week, index) => week.end.getTime() - (weeks[index]?.end.getTime() ?? 0))
  return Math.min(7 * dayMs, ...gaps.filter(gap => gap > 0))
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
        className: 'layer-waiting',
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

/** The period before, over the weeks that it is compared with. */
function lineBefore(weeks: readonly Week[], figure: PanelFigure): Plot.Markish[] {
  const span = spanOf(weeks)
  const middle = ({ end }: Week): Date => new Date(end.getTime() + dayMs - span / 2)
  const known = weeks.filter(({ before }) => !Number.isNaN(before))
  if (known.length === 0) return []
  return [
    Plot.lineY(known, {
      x: isSum(figure) ? middle : 'end',
      y: 'before',
      stroke: 'var(--text)',
      strokeOpacity: 0.65,
      strokeWidth: 1.5,
      strokeDasharray: '4 3',
      marker: 'circle',
      className: 'layer-before',
    }),
  ]
}

export function drawWeeks(parts: ChartParts, columns: WeekColumns): SVGSVGElement {
  const { figure, width, title, open } = parts
  const weeks = weeksIn(parts, columns)
  const svg = plotted(title, {
    width,
    height,
    marginLeft: 56,
    marginRight: 8,
    x: { type: 'utc', label: null, ticks: Math.max(4, Math.floor(width / 110)) },
    y: { label: null, zero: true, grid: true, ticks: 5, tickSize: 0, tickFormat: onAxis(figure) },
    color: { type: 'identity' },
    marks: [
      ...(isSum(figure) ? bars(weeks, hatchId()) : line(weeks)),
      ...lineBefore(weeks, figure),
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.tip(weeks, Plot.pointerX({ x: 'end', y: 'value', title: 'tip' })),
    ],
  })
  openOnClick(svg, { layer: isSum(figure) ? 'rect' : 'dot', rows: weeks.map(({ row }) => row), open })
  const waiting = weeks.filter(({ pending }) => pending > 0)
  openOnClick(svg, { layer: 'waiting', rows: waiting.map(({ row }) => row), open })
  return svg
}
