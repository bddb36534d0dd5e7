/** Builds SQL, for both engines, that gives the calendar day of a timestamp; null outside of the plausible days. */
import type { DayRule } from '../../lib/day-rule.ts'

/** SQL for the parts of a rule; the bounds are seconds since 1970. */
interface DaySql {
  readonly zone: string
  readonly from: string
  readonly until: string
}

const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000
const daySeconds = 86_400

export function daySql({ zone, firstDay, lastDay }: DayRule): DaySql {
  return {
    zone: `'${zone}'`,
    from: String(secondsOf(firstDay)),
    until: String(secondsOf(lastDay) + daySeconds),
  }
}

/** The stage knows the rule as variables of its session. */
export const dayVariables = {
  zone: 'reporting_zone',
  from: 'plausible_from',
  until: 'plausible_until',
} as const

export const stageDays: DaySql = {
  zone: `getvariable('${dayVariables.zone}')`,
  from: `getvariable('${dayVariables.from}')`,
  until: `getvariable('${dayVariables.until}')`,
}

const plausible = (at: string, { from, until }: DaySql, day: (seconds: string) => string): string => {
  const seconds = `extract(epoch from ${at})`
  return `case when ${seconds} >= ${from} and ${seconds} < ${until} then ${day(seconds)} end`
}

const dayAfter = (seconds: string): string =>
  `date '1970-01-01' + cast(floor((${seconds}) / ${daySeconds}) as integer)`

/**
 * SQL for the calendar day of a moment in the reporting zone: 23:00Z in summer is the next day in London. Midnight UTC means a
 * day without a time, so it stays that day, even west of Greenwich. Uses seconds where they are exact: DuckDB then takes
 * 0.05 µs of processor time for a day, against 0.4 µs with `date_trunc` and a zone.
 */
export function dayInZone(at: string, days: DaySql): string {
  return plausible(
    at,
    days,
    seconds => `case
     when mod(${seconds}, ${daySeconds}) = 0 then ${dayAfter(seconds)}
     else cast(${at} at time zone ${days.zone} as date) end`,
  )
}

/** Zones whose midnights are recognised: 13 hours east of Greenwich at the end of a day, 6 at its beginning, 11 west. */
const west = 11 * 3600
const east = 6 * 3600
const halfHour = 1800

/**
 * SQL for a day that the service writes as a moment: the midnight that begins it, or the last second of it, in whichever zone
 * the company is. Midnights are full half hours from 18:00Z (India) to 11:00Z (Hawaii). Other moments are times of day,
 * and midnights further east: they count in the reporting zone.
 */
export function dayWritten(at: string, days: DaySql): string {
  return plausible(
    at,
    days,
    seconds => `case
     when mod(${seconds}, ${halfHour}) >= ${halfHour - 1} then ${dayAfter(`${seconds} + 1 - ${west}`)}
     when mod(${seconds}, ${halfHour}) = 0 and mod(${seconds} + ${east}, ${daySeconds}) < ${west + east}
       then ${dayAfter(`${seconds} + ${east}`)}
     else cast(${at} at time zone ${days.zone} as date) end`,
  )
}
