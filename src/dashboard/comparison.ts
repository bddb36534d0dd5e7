/**
 * Compares panels with the period before: the statement of each runs a second time, as many whole weeks earlier. Nothing is added
 * up that the statement of the panel does not add up itself.
 */
import { daysBetween, utcDay } from '../lib/dates.ts'
import type { Filters } from './filters.ts'
import type { Panel, PanelDrawing, PanelFigure } from './panel.ts'

type ComparedRow = Readonly<Record<string, unknown>>

interface Days {
  readonly from: string
  readonly to: string
}

/** A period of settled weeks, and the one before it. */
export interface Comparison extends Days {
  readonly before: Days
  /** Of whole weeks, so that a week is compared with a week. */
  readonly shift: number
}

/** Days of the stored weeks: the first one, and the last settled one within the filter. */
export interface StoredWeeks {
  readonly first: string | null
  readonly settled: string | null
}

/** A comparison, or why there is none, as a sentence. */
export type ComparisonResult = Comparison | { readonly why: string }

const longestWeek = 6

export function comparedPeriod({ from }: Filters, { first, settled }: StoredWeeks): ComparisonResult {
  if (from === undefined)
    return { why: 'Nothing is compared: choose a first day, as the period before ends the day before it.' }
  if (settled === null || first === null || settled < from)
    return { why: 'Nothing is compared: no week of these dates is settled yet. Choose earlier dates.' }
  const shift = 7 * Math.ceil((daysBetween(from, settled) + 1) / 7)
  const before = { from: utcDay(from, -shift), to: utcDay(settled, -shift) }
  if (utcDay(first, -longestWeek) > before.from)
    return {
      why: `Nothing is compared: the period before begins on ${before.from}, and the first stored week ends on ${first}. Choose fewer weeks.`,
    }
  return { from, to: settled, before, shift }
}

const kinds: readonly PanelDrawing['kind'][] = ['weeks', 'tiles', 'bars', 'heat']

/** Panels of weeks that settle; what stands now has no earlier state, and months are not whole weeks. */
export const isComparable = (
  { date, show, standsNow = false }: Pick<Panel, 'date' | 'show' | 'standsNow'>,
  columns: ReadonlySet<string>,
): boolean =>
  kinds.includes(show.kind) &&
  !standsNow &&
  date === 'week_ending_date' &&
  columns.has('week_ending_date') &&
  columns.has('is_settled_week')

/** A chart by week shows weeks that are not settled too; any other figure has the settled weeks of the comparison alone. */
export const isByWeek = ({ show }: Pick<Panel, 'show'>): boolean =>
  show.kind === 'weeks' || show.kind === 'heat'

const beforeColumn = (column: string): string => `before_${column}`

/** The figure of the period before; not of what waits for approval, whose earlier state is not stored. */
export const beforeFigure = (figure: PanelFigure): PanelFigure => ({
  column: beforeColumn(figure.column),
  label: `${figure.label}, before`,
  unit: figure.unit,
  ...(figure.currency !== undefined && { currency: figure.currency }),
})

const figuresOf = (show: PanelDrawing): readonly PanelFigure[] =>
  'figures' in show ? show.figures : 'figure' in show ? [show.figure] : []

/** Figures of a panel that have a value in the period before. */
export function comparedFigures(show: PanelDrawing): PanelFigure[] {
  const figures = figuresOf(show)
  const waiting = figures.flatMap(({ pending }) => pending ?? [])
  const unit = (one: PanelFigure): boolean => !['text', 'date', 'time', 'flag'].includes(one.unit)
  return figures.filter(one => unit(one) && !waiting.includes(one.column))
}

/** Columns that identify a row of the panel, and the one whose day is shifted. */
function keyOf({ show, drill }: Pick<Panel, 'show' | 'drill'>): {
  columns: readonly string[]
  week: string | undefined
} {
  const week = show.kind === 'weeks' || show.kind === 'heat' ? show.x : undefined
  if (show.kind === 'tiles') return { columns: [], week }
  const columns = drill?.by ?? []
  return { columns: week === undefined || columns.includes(week) ? columns : [...columns, week], week }
}

/**
 * Each row with the figures of its counterpart in the period before; null where there was none. A member that is gone has a row
 * without figures of its own.
 */
export function withBefore(
  panel: Pick<Panel, 'show' | 'drill'>,
  { now, before, shift }: { now: readonly ComparedRow[]; before: readonly ComparedRow[]; shift: number },
): ComparedRow[] {
  const { columns, week } = keyOf(panel)
  const keyIn = (row: ComparedRow, days: number): string =>
    JSON.stringify(
      columns.map(name => (name === week ? utcDay(String(row[name]).slice(0, 10), days) : row[name])),
    )
  const earlier = new Map(before.map(row => [keyIn(row, shift), row]))
  const figures = comparedFigures(panel.show)
  const figuresBefore = (row: ComparedRow | undefined): ComparedRow =>
    Object.fromEntries(figures.map(({ column }) => [beforeColumn(column), row?.[column] ?? null]))
  const present = new Set(now.map(row => keyIn(row, 0)))
  const gone = panel.show.kind === 'bars' ? before.filter(row => !present.has(keyIn(row, 0))) : []
  const without = Object.fromEntries(figuresOf(panel.show).map(({ column }) => [column, null]))
  return [
    ...now.map(row => ({ ...row, ...figuresBefore(earlier.get(keyIn(row, 0))) })),
    ...gone.map(row => ({ ...row, ...without, ...figuresBefore(row) })),
  ]
}
