/** What a mart may know of the moment: two tokens that stand for literals in its statement. */

export interface Moment {
  /** ISO 8601: until when the service was asked; null before the first sync. */
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

/** What of the moment the statement depends on: the same text, the same rows. */
export function momentOf(select: string, { asOf, today }: Moment): string {
  return [
    select.search(tokens.asOf) >= 0 && `as of ${asOf}`,
    select.search(tokens.today) >= 0 && `on ${today}`,
  ]
    .filter(part => part !== false)
    .join(' ')
}

/** Days are counted where the star counts them. */
const reportingZone = 'Europe/London'

/** The calendar day of an instant, in milliseconds since the epoch, in the reporting zone. */
export const dayOf = (nowMs: number): string =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: reportingZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(new Date(nowMs))
