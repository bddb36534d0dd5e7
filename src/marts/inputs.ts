/** Replaces the tokens in the statement of a mart: the time of the build, and the slice to build. */
import { dayInZone, daySql } from '../contract/fields/day-in-zone.ts'
import type { DayRule } from '../lib/day-rule.ts'
import { lastRead } from '../state/marts/source-state.ts'
import { storedDays } from '../state/reporting-zone.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type EngineSql, fillEngineTokens, plainSql } from '../warehouse/engine-tokens.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import type { Mart } from './mart.ts'

export interface ReportingTime extends DayRule {
  /** ISO 8601: end of the last run that read the service; null before the first sync. */
  readonly asOf: string | null
  /** YYYY-MM-DD in the reporting zone. */
  readonly today: string
  /** The month, 1 to 12, in which the fiscal year begins; April without it. */
  readonly fiscalMonth?: number
}

const defaultFiscalMonth = 4

/** A token has one colon, unlike the `::today` of a cast. */
const tokens = {
  asOf: /(?<!:):as_of\b/g,
  today: /(?<!:):today\b/g,
  readDay: /(?<!:):read_day\b/g,
  fiscalMonth: /(?<!:):fiscal_month\b/g,
  /** `:slice(t.worker_id)`: the column is never null, and a row depends only on rows with its own value there. */
  slice: /(?<!:):slice\(([^()]*)\)/g,
  /** `:day(created_at)`: the day of a timestamp in the reporting zone. */
  day: /(?<!:):day\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g,
  /** `:local(start_at)`: what clocks of the reporting zone show, as a timestamp without a zone. */
  local: /(?<!:):local\(([^()]*)\)/g,
} as const

/** SQL of an engine for what its statements write as tokens. */
export interface TokenSql extends EngineSql {
  readonly asOf: string
  readonly today: string
  readonly readDay: string
  readonly fiscalMonth: string
  slice(column: string): string
  day(at: string): string
  local(at: string): string
}

/** `days` before `day`, whose SQL has more parentheses than a token may. */
export function replaceTokens(select: string, sql: TokenSql): string {
  return fillEngineTokens(select, sql)
    .replace(tokens.slice, (_, column: string) => sql.slice(column))
    .replace(tokens.asOf, () => sql.asOf)
    .replace(tokens.today, () => sql.today)
    .replace(tokens.readDay, () => sql.readDay)
    .replace(tokens.day, (_, at: string) => sql.day(at))
    .replace(tokens.local, (_, at: string) => sql.local(at))
    .replace(tokens.fiscalMonth, () => sql.fiscalMonth)
}

export const asOfLiteral = (asOf: string | null): string =>
  asOf === null ? 'cast(null as timestamptz)' : `cast('${asOf}' as timestamptz)`

/** The calendar day on which the service was last read. */
const readDayOf = ({ asOf, zone }: ReportingTime): string =>
  asOf === null ? 'cast(null as date)' : `cast('${dayOf(Date.parse(asOf), zone)}' as date)`

const fiscalMonthOf = ({ fiscalMonth }: ReportingTime): string => String(fiscalMonth ?? defaultFiscalMonth)

/**
 * A statement that does not fit the memory of DuckDB runs once per slice: the values whose hash begins with one of
 * these digits. Eight slices suffice for the worker weeks of ten million timesheets.
 */
export const slices: readonly string[] = ['01', '23', '45', '67', '89', 'ab', 'cd', 'ef']

/** The header decides, as an unsliced statement may include a part with `:slice`. */
export const isSliced = ({ fields }: Pick<Mart, 'fields'>): boolean => fields.has('Slices')

const inSlice = (column: string, slice: string | undefined): string =>
  slice === undefined ? 'true' : `position(left(md5(${column}), 1) in '${slice}') > 0`

/** For DuckDB and PostgreSQL. Reads all rows when no slice is given. */
export function fillTokens(select: string, time: ReportingTime, slice?: string): string {
  return replaceTokens(select, {
    ...plainSql,
    asOf: asOfLiteral(time.asOf),
    today: `cast('${time.today}' as date)`,
    readDay: readDayOf(time),
    fiscalMonth: fiscalMonthOf(time),
    slice: column => inSlice(column, slice),
    day: at => dayInZone(at, daySql(time)),
    local: at => `(${at} at time zone ${quoteText(time.zone)})`,
  })
}

/** The time inputs that the statement uses: the same text gives the same rows. */
export function timeInputsOf(select: string, time: ReportingTime): string {
  return [
    select.search(tokens.asOf) >= 0 && `as of ${time.asOf}`,
    select.search(tokens.today) >= 0 && `on ${time.today}`,
    select.search(tokens.readDay) >= 0 && `read on ${readDayOf(time)}`,
    (select.search(tokens.day) >= 0 || select.search(tokens.local) >= 0) &&
      `in ${time.zone} from ${time.firstDay} to ${time.lastDay}`,
    select.search(tokens.fiscalMonth) >= 0 && `from month ${fiscalMonthOf(time)}`,
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

/** The reporting time of a build or a check that runs now; `nowMs`: milliseconds since the epoch. */
export async function readReportingTime(
  engine: Engine,
  nowMs: number,
  fiscalMonth?: number,
): Promise<ReportingTime> {
  const days = await storedDays(engine)
  const asOf = await lastRead(engine)
  return { asOf, today: dayOf(nowMs, days.zone), ...days, ...(fiscalMonth !== undefined && { fiscalMonth }) }
}
