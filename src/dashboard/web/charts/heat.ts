/** Draws a figure by week and place: darker is more. */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import { beforeLine } from '../before.ts'
import { formatted, numberIn, written } from '../format.ts'
import { type ChartParts, hatchId, hatching, openOnClick, plotted, shortened } from './chart.ts'

interface HeatColumns {
  readonly x: string
  readonly y: string
  readonly settled?: string
}

const cellHeight = 26

interface HeatCell {
  readonly week: string
  readonly place: string
  readonly value: number
  readonly isSettled: boolean
  readonly tip: string
  readonly row: PanelRow
}

function cellsIn({ rows, figure }: ChartParts, { x, y, settled }: HeatColumns): HeatCell[] {
  return rows.map(row => {
    const isSettled = settled === undefined || row[settled] !== false
    const lines = [
      String(row[y]),
      `Week ending ${formatted(row[x], 'date')}${isSettled ? '' : ', not settled yet'}`,
      `${figure.label} ${written(row[figure.column], figure, 'whole')}`,
      ...beforeLine(row, figure),
    ]
    return {
      week: String(row[x]),
      place: String(row[y]),
      value: numberIn(row[figure.column]),
      isSettled,
      tip: lines.join('\n'),
      row,
    }
  })
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

/** Labels as many weeks as fit. */
function weekAxis(weeks: readonly string[], width: number): Plot.ScaleOptions {
  const every = Math.ceil(weeks.length / Math.max(1, Math.floor(width / 64)))
  return {
    type: 'band',
    label: null,
    domain: [...weeks],
    tickSize: 0,
    ticks: weeks.filter((_, index) => index % every === 0),
    tickFormat: (week: string) => formatted(week, 'date').replace(/ \d{4}$/, ''),
  }
}

function layersOf(cells: HeatCell[]): Plot.Markish[] {
  const id = hatchId()
  return [
    Plot.cell(cells, {
      x: 'week',
      y: 'place',
      fill: 'var(--accent)',
      fillOpacity: 'value',
    }),
    hatching(id),
    Plot.cell(
      cells.filter(({ isSettled }) => !isSettled),
      {
        x: 'week',
        y: 'place',
        fill: `url(#${id})`,
        fillOpacity: 0.6,
        className: 'layer-not-settled',
        pointerEvents: 'none',
      },
    ),
    Plot.tip(cells, Plot.pointer({ x: 'week', y: 'place', title: 'tip' })),
  ]
}

export function drawHeat(parts: ChartParts, columns: HeatColumns): SVGSVGElement {
  const { width, title, open } = parts
  const cells = cellsIn(parts, columns)
  const places = distinct(cells.map(({ place }) => place))
  const marginLeft = Math.round(Math.min(190, width * 0.34))
  const letters = Math.floor(marginLeft / 7.4)
  const svg = plotted(title, {
    width,
    height: places.length * cellHeight + 40,
    marginLeft,
    marginRight: 4,
    marginTop: 4,
    marginBottom: 36,
    padding: 0.08,
    x: weekAxis(distinct(cells.map(({ week }) => week)), width - marginLeft),
    y: {
      label: null,
      domain: places,
      tickSize: 0,
      tickFormat: (place: string) => shortened(place, letters),
    },
    opacity: { domain: [0, Math.max(1, ...cells.map(({ value }) => value))], range: [0.06, 1] },
    marks: layersOf(cells),
  })
  openOnClick(svg, { layer: 'cell', rows: cells.map(({ row }) => row), open })
  return svg
}
