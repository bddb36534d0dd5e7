/** Stores the zone in which a warehouse counts days, and recomputes all stored days when the setting changes. */
import { catalogue } from '../contract/catalogue.ts'
import { dayInZone } from '../contract/fields/day-in-zone.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { defaultZone } from '../lib/zones.ts'
import type { Engine } from '../warehouse/engine.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { ledger } from './ledger.ts'

/** The day columns of each table, each with its timestamp column. */
const countedDays: ReadonlyMap<string, readonly (readonly [day: string, at: string])[]> = new Map(
  catalogue
    .flatMap(({ table }) => tablesOf(table))
    .map(({ name, columns }) => [
      name,
      Object.entries(columns).flatMap(([day, { source }]) =>
        source.from === 'derived' && source.dayOf !== undefined ? [[day, source.dayOf] as const] : [],
      ),
    ]),
)

/** One statement per table with days, including history tables; rows whose days stay the same are not touched. */
export function recounts(zone: string): string[] {
  return physicalTables.flatMap(table => {
    const names = new Set(table.columns.map(({ name }) => name))
    const days = (countedDays.get(table.name) ?? []).filter(([day, at]) => names.has(day) && names.has(at))
    if (days.length === 0) return []
    const counted = days.map(([day, at]) => [quoteName(day), dayInZone(quoteName(at), quoteText(zone))])
    const values = counted.map(([day, value]) => `${day} = ${value}`)
    const changes = counted.map(([day, value]) => `${day} is distinct from ${value}`)
    return [`update ${qualified(table)} set ${values.join(', ')} where ${changes.join(' or ')}`]
  })
}

/** The default zone for a warehouse from before zones were recorded. */
export async function reportingZoneOf(engine: Engine): Promise<string> {
  const row = await ledger(engine).selectFrom('ops.reporting_zone').select('zone').executeTakeFirst()
  return row?.zone ?? defaultZone
}

/** Whether days are counted in the zone of the settings. */
export async function isZoneSettled(engine: Engine): Promise<boolean> {
  return engine.reportingZone === undefined || engine.reportingZone === (await reportingZoneOf(engine))
}

/** Runs inside a transaction; `now` is ISO 8601. Writes no row for the default zone: a copy needs an empty warehouse. */
export async function settleZone(engine: Engine, now: string): Promise<void> {
  const zone = engine.reportingZone
  if (zone === undefined || zone === (await reportingZoneOf(engine))) return
  for (const recount of recounts(zone)) await engine.run(recount)
  await ledger(engine).deleteFrom('ops.reporting_zone').execute()
  await ledger(engine).insertInto('ops.reporting_zone').values({ zone, counted_at: now }).execute()
}
