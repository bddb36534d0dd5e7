/** Formats figures, days and times for users. */
import type { FigureUnit, PanelFigure } from '../panel.ts'

const integerFormat = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 })
const percentFormat = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 0 })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const dateTimeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

const numbers: Readonly<Partial<Record<FigureUnit, Intl.NumberFormat>>> = {
  money: integerFormat,
  hours: tenths,
  days: tenths,
  count: integerFormat,
  rate: hundredths,
  share: percent,
}

export const isNumeric = (unit: FigureUnit): boolean => numbers[unit] !== undefined

/** Shown for an unknown value. */
const nothing = '–'

/** Decimals arrive as text, to stay exact. */
export const numberIn = (value: unknown): number =>
  value === null || value === undefined || value === '' ? Number.NaN : Number(value)

export function formatted(value: unknown, unit: FigureUnit): string {
  if (value === null || value === undefined || value === '') return nothing
  const format = numbers[unit]
  if (format) return Number.isNaN(numberIn(value)) ? String(value) : format.format(numberIn(value))
  if (unit === 'date') return day.format(new Date(String(value)))
  if (unit === 'time') return `${dateTimeFormat.format(new Date(String(value)))} UTC`
  if (unit === 'flag') return value === true || value === 'true' ? 'yes' : 'no'
  return String(value)
}

/** Short form for an axis. */
export const onAxis = (unit: FigureUnit) => (value: number) =>
  unit === 'share' ? percentFormat.format(value) : compact.format(value)

const suffixes: readonly (readonly [RegExp, FigureUnit])[] = [
  [/_at$/, 'time'],
  [/(^|_)(date|on)$/, 'date'],
  [/^(is|has)_/, 'flag'],
  [/(_share|_ratio|_rate_share)$/, 'share'],
  [/_(value|charge|spend)$/, 'money'],
  [/(_hours|^hours)$/, 'hours'],
  [/_days$/, 'days'],
]

/** The unit of a mart's column, from its name. */
export const unitOf = (column: string): FigureUnit =>
  suffixes.find(([pattern]) => pattern.test(column))?.[1] ?? 'text'

export const titleOf = (column: string): string => {
  const words = column
    .replace(/_(at|date|id)$/, '')
    .replace(/^is_/, '')
    .replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const isSum = ({ unit }: PanelFigure): boolean =>
  unit === 'money' || unit === 'hours' || unit === 'count'
