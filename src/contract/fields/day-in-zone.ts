/** The calendar day of a timestamp in a zone, in SQL that both engines run. */

/**
 * SQL for the calendar day of a timestamp in a zone: 23:00Z in summer is the next day in London. Exactly midnight UTC is how
 * a service writes a day without a time: it stays that day, also west of Greenwich. Sessions show times in UTC.
 */
export const dayInZone = (at: string, zone: string): string =>
  `cast(case when ${at} = date_trunc('day', ${at}) then ${at} at time zone 'UTC' else ${at} at time zone ${zone} end as date)`

/** The stage knows the zone as a variable of its session. */
export const zoneVariable = 'reporting_zone'

/** The zone in statements of the stage. */
export const stageZone = `getvariable('${zoneVariable}')`
