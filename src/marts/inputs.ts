/** The inputs of a mart besides its SQL: the moment, as two tokens in its statement, and the state of its sources. */
import { ledgerStates } from '../state/marts/source-state.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Mart, martsRead } from './mart.ts'

export interface Moment {
  /** ISO 8601: end of the last run that read the service; null before the first sync. */
  readonly asOf: string | null
  /** YYYY-MM-DD in the reporting zone. */
  readonly today: string
}

/** Not the `::today` of a cast. */
const tokens = { asOf: /(?<!:):as_of\b/g, today: /(?<!:):today\b/g } as const

export const asOfLiteral = (asOf: string | null): string =>
  asOf === null ? 'cast(null as timestamptz)' : `cast('${asOf}' as timestamptz)`

export function fillTokens(select: string, { asOf, today }: Moment): string {
  return select.replace(tokens.asOf, asOfLiteral(asOf)).replace(tokens.today, `cast('${today}' as date)`)
}

/** The part of the moment that the statement depends on: the same text gives the same rows. */
function momentOf(select: string, { asOf, today }: Moment): string {
  return [
    select.search(tokens.asOf) >= 0 && `as of ${asOf}`,
    select.search(tokens.today) >= 0 && `on ${today}`,
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
  const parts = [star, momentOf(mart.select, moment), ...marts, ...(await ledgerStates(engine, mart.reads))]
  return parts.filter(part => part !== '').join('; ')
}
