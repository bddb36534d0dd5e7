/** Draws a small line of settled weeks over the usual range, with the last week marked. */
import * as Plot from '@observablehq/plot'
import type { UsualRange } from '../../../lib/usual-range.ts'
import type { HeadlineWeek } from '../../headline.ts'
import { plotted } from './chart.ts'

const height = 52

export interface SparkParts {
  readonly weeks: readonly HeadlineWeek[]
  readonly range: UsualRange | null
  readonly isUnusual: boolean
  /** Pixels. */
  readonly width: number
  readonly title: string
}

export function drawSpark({ weeks, range, isUnusual, width, title }: SparkParts): SVGSVGElement {
  const points = weeks.map(({ week, value }) => ({ end: new Date(week), value }))
  const ends = points.map(({ end }) => end)
  return plotted(title, {
    width,
    height,
    margin: 5,
    x: { type: 'utc', axis: null },
    y: { axis: null },
    color: { type: 'identity' },
    marks: [
      ...(range ? [Plot.areaY(ends, { x: ends, y1: range.low, y2: range.high, fill: 'var(--line)' })] : []),
      Plot.lineY(points, { x: 'end', y: 'value', stroke: 'var(--quiet)', strokeWidth: 1.5 }),
      Plot.dot(points.slice(-1), {
        x: 'end',
        y: 'value',
        r: 4,
        fill: isUnusual ? 'var(--warning)' : 'var(--accent)',
      }),
    ],
  })
}
