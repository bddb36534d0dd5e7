/** The inputs of a mart besides its SQL: the moment, as two tokens in its statement, and the state of its sources. */
import { ledgerStates } from '../state/marts/source-state.ts'
import type { Engine } from '../warehouse/engine.ts'
import { decidingText } from './columns.ts'
import { type Mart, martsRead } from './mart.ts'

export interface Moment {
  /** ISO 8601: end of the last run that read the service; null before the first sync. */
  readonly asOf: string | null
  /** YYYY-MM-DD in the reporting zone. */
  readonly today: string
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
} as const

export const asOfLiteral = (asOf: string | null): string =>
  asOf === null ? 'cast(null as timestamptz)' : `cast('${asOf}' as timestamptz)`

/** The calendar day on which the service was last read. */
const readDayOf = (asOf: string | null): string =>
  asOf === null ? 'cast(null as date)' : `cast('${dayOf(Date.parse(asOf))}' as date)`

const fiscalMonthOf = ({ fiscalMonth }: Moment): string => String(fiscalMonth ?? usualFiscalMonth)

export function fillTokens(select: string, moment: Moment): string {
  return select
    .replace(tokens.asOf, asOfLiteral(moment.asOf))
    .replace(tokens.today, `cast('${moment.today}' as date)`)
    .replace(tokens.readDay, readDayOf(moment.asOf))
    .replace(tokens.fiscalMonth, fiscalMonthOf(moment))
}

/** The part of the moment that the statement depends on: the same text gives the same rows. */
function momentOf(select: string, moment: Moment): string {
  return [
    select.search(tokens.asOf) >= 0 && `as of ${moment.asOf}`,
    select.search(tokens.today) >= 0 && `on ${moment.today}`,
    select.search(tokens.readDay) >= 0 && `read on ${readDayOf(moment.asOf)}`,
    select.search(tokens.fiscalMonth) >= 0 && `from month ${fiscalMonthOf(moment)}`,
  ]
    .filter(part => part !== false)
    .join(' ')
}

/** The zone in which star counts days. */
const reportingZone = 'Europe/London'

/** The calendar day of an instant, in milliseconds since the epoch, in the reporting zone. */
export const dayOf = (nowMs: number): string =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: reportingZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(new Date(nowMs))

/** The same text as long as the rows stay the same. `builtAt` gives the time at which another mart was last built. */
export async function sourcesOf(
  engine: Engine,
  mart: Mart,
  { star, moment, builtAt }: { star: string; moment: Moment; builtAt: (name: string) => string | null },
): Promise<string> {
  const marts = martsRead(mart).map(name => `mart.${name} ${builtAt(name)}`)
  const parts = [
    star,
    momentOf(decidingText(mart), moment),
    ...marts,
    ...(await ledgerStates(engine, mart.reads)),
  ]
  return parts.filter(part => part !== '').join('; ')
}
