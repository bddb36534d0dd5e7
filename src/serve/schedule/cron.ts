/** The next moment of a schedule of five cron fields: minute, hour, day, month, day of the week; in UTC. */
import { ConfigError } from '../../lib/errors.ts'

interface Schedule {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly isDay: (day: Date) => boolean
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Field {
  readonly least: number
  readonly most: number
  /** Words for its numbers, from `least` on. */
  readonly names?: readonly string[]
}

const wrong = (text: string): ConfigError =>
  new ConfigError({
    what: `${text} is no schedule`,
    next: 'write five cron fields, as in 30 2 * * * for 02:30 UTC every day',
  })

function numberIn(text: string, { least, most, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase())
  const value = named >= 0 ? named + least : /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : undefined
}

/** `*`, `5`, `1-5`, each with a step such as `/2`; undefined for anything else. */
function numbersOf(part: string, field: Field): readonly number[] | undefined {
  const [, range = '', step] = /^([^/]+)(?:\/([1-9]\d*))?$/.exec(part) ?? []
  const [from = '', to] = range === '*' ? [String(field.least), String(field.most)] : range.split('-')
  const first = numberIn(from, field)
  // `5/15` means from the fifth on.
  const last = to === undefined ? (step ? field.most : first) : numberIn(to, field)
  if (first === undefined || last === undefined || last < first) return undefined
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return numbers.filter(number => (number - first) % Number(step ?? 1) === 0)
}

function valuesOf(text: string, field: Field): readonly number[] | undefined {
  const parts = text.split(',').map(part => numbersOf(part, field))
  return parts.some(part => part === undefined)
    ? undefined
    : [...new Set(parts.flatMap(part => part ?? []))].sort((one, other) => one - other)
}

/** Throws ConfigError. */
function parse(text: string): Schedule {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = text.trim().split(/ +/)
  const minutes = valuesOf(minute, { least: 0, most: 59 })
  const hours = valuesOf(hour, { least: 0, most: 23 })
  const days = valuesOf(day, { least: 1, most: 31 })
  const monthNumbers = valuesOf(month, { least: 1, most: 12, names: months })
  const weekdayNumbers = valuesOf(weekday, { least: 0, most: 7, names: weekdays })
  if (!minutes || !hours || !days || !monthNumbers || !weekdayNumbers || rest.length > 0) throw wrong(text)
  const isDate = (date: Date): boolean => days.includes(date.getUTCDate())
  const isWeekday = (date: Date): boolean => weekdayNumbers.some(number => number % 7 === date.getUTCDay())
  // As cron has it: where both are restricted, either will do.
  const eitherWill = !day.startsWith('*') && !weekday.startsWith('*')
  const isDay = (date: Date): boolean =>
    monthNumbers.includes(date.getUTCMonth() + 1) &&
    (eitherWill ? isDate(date) || isWeekday(date) : isDate(date) && isWeekday(date))
  return { minutes, hours, isDay }
}

const dayMs = 86_400_000
/** The 29th of February can be eight years away. */
const farthestDays = 366 * 9

/** The first moment after `afterMs`, in milliseconds since the epoch. Throws ConfigError for what is no schedule. */
export function nextDue(text: string, afterMs: number): number {
  const { minutes, hours, isDay } = parse(text)
  const today = Math.floor(afterMs / dayMs) * dayMs
  for (let day = 0; day < farthestDays; day += 1) {
    const start = today + day * dayMs
    if (!isDay(new Date(start))) continue
    const moments = hours.flatMap(hour => minutes.map(minute => start + (hour * 60 + minute) * 60_000))
    const due = moments.find(moment => moment > afterMs)
    if (due !== undefined) return due
  }
  throw wrong(text)
}
