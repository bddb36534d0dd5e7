/** Figures, days and times as people read them. */
import type { Figure, Unit } from '../panel.ts'

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 })
const wholePercent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 0 })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

const numbers: Readonly<Partial<Record<Unit, Intl.NumberFormat>>> = {
  money: whole,
  hours: tenths,
  days: tenths,
  count: whole,
  rate: hundredths,
  share: percent,
}

export const isNumeric = (unit: Unit): boolean => numbers[unit] !== undefined

/** What stands where a value is not known. */
const nothing = '–'

/** Decimals arrive as text, so that they arrive exactly. */
export const numberIn = (value: unknown): number =>
  value === null || value === undefined || value === '' ? Number.NaN : Number(value)

export function formatted(value: unknown, unit: Unit): string {
  if (value === null || value === undefined || value === '') return nothing
  const format = numbers[unit]
  if (format) return Number.isNaN(numberIn(value)) ? String(value) : format.format(numberIn(value))
  if (unit === 'date') return day.format(new Date(String(value)))
  if (unit === 'time') return `${moment.format(new Date(String(value)))} UTC`
  if (unit === 'flag') return value === true || value === 'true' ? 'yes' : 'no'
  return String(value)
}

/** For an axis, where room is short. */
export const onAxis = (unit: Unit) => (value: number) =>
  unit === 'share' ? wholePercent.format(value) : compact.format(value)

const suffixes: readonly (readonly [RegExp, Unit])[] = [
  [/_at$/, 'time'],
  [/(^|_)(date|on)$/, 'date'],
  [/^(is|has)_/, 'flag'],
  [/(_share|_ratio|_rate_share)$/, 'share'],
  [/_(value|charge|spend)$/, 'money'],
  [/(_hours|^hours)$/, 'hours'],
  [/_days$/, 'days'],
]

/** Of a column of a mart, whose name says it. */
export const unitOf = (column: string): Unit =>
  suffixes.find(([pattern]) => pattern.test(column))?.[1] ?? 'text'

export const titleOf = (column: string): string => {
  const words = column
    .replace(/_(at|date|id)$/, '')
    .replace(/^is_/, '')
    .replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const isSum = ({ unit }: Figure): boolean => unit === 'money' || unit === 'hours' || unit === 'count'
