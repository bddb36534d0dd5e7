/** What the tokens in the statement of a mart stand for: the moment of a build, and the slice that is made. */
import { dayInZone } from '../contract/fields/day-in-zone.ts'
import { lastRead } from '../state/marts/source-state.ts'
import { reportingZoneOf } from '../state/reporting-zone.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import type { Mart } from './mart.ts'

export interface Moment {
  /** ISO 8601: end of the last run that read the service; null before the first sync. */
  readonly asOf: string | null
  /** YYYY-MM-DD in the reporting zone. */
  readonly today: string
  /** IANA name of the reporting zone. */
  readonly zone: string
  /** The month, 1 to 12, in which the fiscal year begins; April without it. */
  readonly fiscalMonth?: number
}

const usualFiscalMonth = 4

/** Not the `::today` of a cast. */
const tokens = {
  asOf: /(?<!:):as_of\b/g,
  today: /(?<!:):today\b/g,
  readDay: /(?<!:):read_day\b/g,
  fiscalMonth: /(?<!:):fiscal_month\b/g,
  /** `:slice(t.worker_id)`: the column is never null, and a row depends only on rows with its own value there. */
  slice: /(?<!:):slice\(([^()]*)\)/g,
  /** `:day(created_at)`: the day of a timestamp in the reporting zone. */
  day: /(?<!:):day\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g,
} as const

export const asOfLiteral = (asOf: string | null): string =>
  asOf === null ? 'cast(null as timestamptz)' : `cast('${asOf}' as timestamptz)`

/** The calendar day on which the service was last read. */
const readDayOf = ({ asOf, zone }: Moment): string =>
  asOf === null ? 'cast(null as date)' : `cast('${dayOf(Date.parse(asOf), zone)}' as date)`

const fiscalMonthOf = ({ fiscalMonth }: Moment): string => String(fiscalMonth ?? usualFiscalMonth)

/**
 * A statement that does not fit the memory of DuckDB is run for each slice: the values whose hash begins with one of these digits.
 * Weeks of workers of ten million timesheets fit in eight.
 */
export const slices: readonly string[] = ['01', '23', '45', '67', '89', 'ab', 'cd', 'ef']

/** By the header, as a part with `:slice` may be included by a statement that is not sliced. */
export const isSliced = ({ fields }: Pick<Mart, 'fields'>): boolean => fields.has('Slices')

const inSlice = (column: string, slice: string | undefined): string =>
  slice === undefined ? 'true' : `position(left(md5(${column}), 1) in '${slice}') > 0`

/** Without a slice all rows are read. */
export function fillTokens(select: string, moment: Moment, slice?: string): string {
  return select
    .replace(tokens.slice, (_, column: string) => inSlice(column, slice))
    .replace(tokens.asOf, () => asOfLiteral(moment.asOf))
    .replace(tokens.today, () => `cast('${moment.today}' as date)`)
    .replace(tokens.readDay, () => readDayOf(moment))
    .replace(tokens.day, (_, at: string) => dayInZone(at, quoteText(moment.zone)))
    .replace(tokens.fiscalMonth, () => fiscalMonthOf(moment))
}

/** The part of the moment that the statement depends on: the same text gives the same rows. */
export function momentOf(select: string, moment: Moment): string {
  return [
    select.search(tokens.asOf) >= 0 && `as of ${moment.asOf}`,
    select.search(tokens.today) >= 0 && `on ${moment.today}`,
    select.search(tokens.readDay) >= 0 && `read on ${readDayOf(moment)}`,
    select.search(tokens.day) >= 0 && `in ${moment.zone}`,
    select.search(tokens.fiscalMonth) >= 0 && `from month ${fiscalMonthOf(moment)}`,
  ]
    .filter(part => part !== false)
    .join(' ')
}

/** The calendar day, YYYY-MM-DD, of an instant in milliseconds since the epoch. */
export const dayOf = (nowMs: number, zone: string): string =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(new Date(nowMs))

/** The moment of a build or a check that runs now; `nowMs` are milliseconds since the epoch. */
export async function momentAt(engine: Engine, nowMs: number, fiscalMonth?: number): Promise<Moment> {
  const zone = await reportingZoneOf(engine)
  const asOf = await lastRead(engine)
  return { asOf, today: dayOf(nowMs, zone), zone, ...(fiscalMonth !== undefined && { fiscalMonth }) }
}
