/** Draws rows as bars, each with its name and its figure. */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import { beforeFigure } from '../../comparison.ts'
import { beforeLine } from '../before.ts'
import { formatted, numberIn, written } from '../format.ts'
import { type ChartParts, openOnClick, plotted, shortened } from './chart.ts'

const barHeight = 26
/** Pixels of a letter, on average. */
const letterWidth = 7.4
/** Max bars: a longer chart is unreadable, and the table has all rows. */
export const maxBars = 12

interface BarColumns {
  readonly label: string
  readonly inOrder?: boolean
}

interface Bar {
  readonly place: string
  readonly name: string
  readonly value: number
  readonly text: string
  /** In the period before; NaN without one. */
  readonly before: number
  readonly tip: string
  readonly row: PanelRow
}

/** Words of the service such as weekday_overtime. */
const inWords = (name: string): string =>
  /^[a-z]+(_[a-z]+)*$/.test(name)
    ? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
    : name

/** What to say instead of bars: without a value other than zero there is nothing to draw. */
export function insteadOfBars({ rows, figure }: Pick<ChartParts, 'rows' | 'figure'>): string | undefined {
  const values = [figure, beforeFigure(figure)].flatMap(({ column }) =>
    rows.map(row => numberIn(row[column])).filter(value => !Number.isNaN(value)),
  )
  if (values.some(value => value !== 0)) return undefined
  if (values.length === 0) return `${figure.label}: not known for any of these ${rows.length} rows.`
  return `${figure.label}: ${written(0, figure, 'whole')} in each of these ${rows.length} rows.`
}

function barsIn({ rows, figure }: ChartParts, { label, inOrder = false }: BarColumns): Bar[] {
  const figureOf = (row: PanelRow): number => numberIn(row[figure.column]) || 0
  const columns = [figure.column, beforeFigure(figure).column]
  const known = rows.filter(row => columns.some(column => !Number.isNaN(numberIn(row[column]))))
  const ranked = inOrder ? known : known.toSorted((one, other) => figureOf(other) - figureOf(one))
  return ranked.slice(0, maxBars).map((row, index) => ({
    place: String(index),
    name: inWords(formatted(row[label], 'text')),
    value: figureOf(row),
    text: written(row[figure.column], figure, 'whole'),
    before: numberIn(row[beforeFigure(figure).column]),
    tip: beforeLine(row, figure).join(''),
    row,
  }))
}

/** A line at the figure of the period before. */
function marksBefore(bars: Bar[]): Plot.Markish[] {
  const known = bars.filter(({ before }) => !Number.isNaN(before))
  if (known.length === 0) return []
  return [
    Plot.tickX(known, {
      x: 'before',
      y: 'place',
      stroke: 'var(--quiet)',
      strokeWidth: 2.5,
      inset: -3,
      className: 'layer-before',
    }),
    Plot.tip(known, Plot.pointerY({ x: 'value', y: 'place', title: 'tip' })),
  ]
}

/** The largest bar stands out; the others are its context. */
function layersOf(bars: Bar[]): Plot.Markish[] {
  const largest = Math.max(...bars.map(({ value }) => value))
  const fill = ({ value }: Bar): string => (value === largest ? 'var(--accent)' : 'var(--context)')
  return [
    Plot.barX(bars, { x: 'value', y: 'place', fill }),
    Plot.text(bars, {
      x: bar => Math.max(0, bar.value, Number.isNaN(bar.before) ? 0 : bar.before),
      y: 'place',
      text: 'text',
      textAnchor: 'start',
      dx: 6,
      fontSize: 12,
      className: 'figures',
    }),
    ...marksBefore(bars),
    Plot.ruleX([0], { stroke: 'var(--line)' }),
  ]
}

export function drawBars(parts: ChartParts, columns: BarColumns): SVGSVGElement {
  const { width, title, open } = parts
  const bars = barsIn(parts, columns)
  const longest = Math.max(0, ...bars.map(({ name }) => name.length))
  const marginLeft = Math.round(Math.min(letterWidth * (longest + 1), width * 0.45))
  const letters = Math.floor(marginLeft / letterWidth)
  const names = new Map(bars.map(({ place, name }) => [place, shortened(name, letters)]))
  const svg = plotted(title, {
    width,
    height: bars.length * barHeight + 8,
    marginLeft,
    marginRight: 104,
    marginTop: 4,
    marginBottom: 4,
    x: { axis: null, zero: true },
    color: { type: 'identity' },
    y: {
      type: 'band',
      label: null,
      tickSize: 0,
      domain: bars.map(({ place }) => place),
      tickFormat: (place: string) => names.get(place) ?? '',
      padding: 0.28,
    },
    marks: layersOf(bars),
  })
  openOnClick(svg, { layer: 'bar', rows: bars.map(({ row }) => row), open })
  return svg
}
