/** Formats figures, days and times for users: the one place that knows signs, units and how many digits. */
import type { FigureUnit, PanelFigure } from '../panel.ts'

/** Numbers are written as the English text around them; days and times as the reader's browser writes them. */
const numbersAs = 'en-GB'
const datesAs = undefined

const digits = (min: number, max = min): Intl.NumberFormat =>
  new Intl.NumberFormat(numbersAs, { minimumFractionDigits: min, maximumFractionDigits: max })
const whole = digits(0)
const tenths = digits(1)
const hundredths = digits(2)
const percent = new Intl.NumberFormat(numbersAs, { style: 'percent', maximumFractionDigits: 1 })
const wholePercent = new Intl.NumberFormat(numbersAs, { style: 'percent', maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat(numbersAs, { notation: 'compact', maximumFractionDigits: 1 })
const day = new Intl.DateTimeFormat(datesAs, { dateStyle: 'medium', timeZone: 'UTC' })
const dateTimeFormat = new Intl.DateTimeFormat(datesAs, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** `exact` in tables, `whole` in charts and tiles, `short` in headlines and on axes. */
export type Digits = 'exact' | 'whole' | 'short'

const moneyOptions: Readonly<Record<Digits, Intl.NumberFormatOptions>> = {
  exact: { minimumFractionDigits: 2, maximumFractionDigits: 2 },
  whole: { maximumFractionDigits: 0 },
  short: { notation: 'compact', minimumSignificantDigits: 1, maximumSignificantDigits: 3 },
}

const moneyFormats = new Map<string, Intl.NumberFormat>()

/** A code that is no currency is written as it is. */
function moneyFormat(currency: string | undefined, size: Digits): Intl.NumberFormat {
  const isCode = currency !== undefined && /^[A-Z]{3}$/.test(currency)
  const name = `${isCode ? currency : ''} ${size}`
  const known = moneyFormats.get(name)
  if (known) return known
  const sign: Intl.NumberFormatOptions = isCode ? { style: 'currency', currency } : {}
  const made = new Intl.NumberFormat(numbersAs, { ...sign, ...moneyOptions[size] })
  moneyFormats.set(name, made)
  return made
}

const numeric: readonly FigureUnit[] = ['money', 'price', 'number', 'hours', 'days', 'count', 'share']

export const isNumeric = (unit: FigureUnit): boolean => numeric.includes(unit)

/** Shown for an unknown value. */
const nothing = '–'

/** Decimals arrive as text, to stay exact. */
export const numberIn = (value: unknown): number =>
  value === null || value === undefined || value === '' ? Number.NaN : Number(value)

export type Formattable = Pick<PanelFigure, 'unit' | 'currency'>

function daysText(value: number, size: Digits): string {
  const text = (size === 'exact' || !Number.isInteger(value) ? tenths : whole).format(value)
  return `${text} ${Number(text) === 1 ? 'day' : 'days'}`
}

function numberText(value: number, { unit, currency }: Formattable, size: Digits): string {
  const short = size === 'short' && Math.abs(value) >= 10_000
  if (unit === 'money') return moneyFormat(currency, size).format(value)
  if (unit === 'price') return `${moneyFormat(currency, 'exact').format(value)} an hour`
  if (unit === 'hours') return `${(short ? compact : tenths).format(value)} h`
  if (unit === 'days') return daysText(value, size)
  if (unit === 'share') return percent.format(value)
  if (unit === 'number') return hundredths.format(value)
  return (short ? compact : whole).format(value)
}

export function written(value: unknown, figure: Formattable, size: Digits = 'exact'): string {
  if (value === null || value === undefined || value === '') return nothing
  const { unit } = figure
  if (isNumeric(unit)) {
    const number = numberIn(value)
    return Number.isNaN(number) ? String(value) : numberText(number, figure, size)
  }
  if (unit === 'date') return day.format(new Date(String(value)))
  if (unit === 'time') return `${dateTimeFormat.format(new Date(String(value)))} UTC`
  if (unit === 'flag') return value === true || value === 'true' ? 'yes' : 'no'
  return String(value)
}

export const formatted = (value: unknown, unit: FigureUnit): string => written(value, { unit })

/** Short form for an axis, whose title has the unit. */
export const onAxis =
  ({ unit, currency }: Formattable) =>
  (value: number): string => {
    if (unit === 'share') return wholePercent.format(value)
    return unit === 'money' ? moneyFormat(currency, 'short').format(value) : compact.format(value)
  }

const suffixes: readonly (readonly [RegExp, FigureUnit])[] = [
  [/_at$/, 'time'],
  [/(^|_)(date|on)$/, 'date'],
  [/^(is|has)_/, 'flag'],
  [/(_share|_ratio|_rate_share)$/, 'share'],
  [/(_value|_charge|_spend|_(charge|pay)_rate|^(charge|pay)_rate)$/, 'money'],
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
