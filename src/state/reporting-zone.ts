/** Stores how a warehouse counts days, and recomputes all stored days when the settings change. */
import { catalogue } from '../contract/catalogue.ts'
import type { CountedDay } from '../contract/fields/column.ts'
import { daySql } from '../contract/fields/day-in-zone.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { type DayRule, defaultDays } from '../lib/day-rule.ts'
import type { Engine } from '../warehouse/engine.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { ledger } from './ledger.ts'

/** The day columns of each table, each with its timestamp column. */
export const countedDays: ReadonlyMap<string, readonly (readonly [day: string, of: CountedDay])[]> = new Map(
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
export function recounts(rule: DayRule): string[] {
  return physicalTables.flatMap(table => {
    const names = new Set(table.columns.map(({ name }) => name))
    const days = (countedDays.get(table.name) ?? []).filter(
      ([day, { at }]) => names.has(day) && names.has(at),
    )
    if (days.length === 0) return []
    const counted = days.map(([day, { at, count }]) => [quoteName(day), count(quoteName(at), daySql(rule))])
    const values = counted.map(([day, value]) => `${day} = ${value}`)
    const changes = counted.map(([day, value]) => `${day} is distinct from ${value}`)
    return [`update ${qualified(table)} set ${values.join(', ')} where ${changes.join(' or ')}`]
  })
}

/** The default for a warehouse from before rules were recorded. */
export async function storedDays(engine: Engine): Promise<DayRule> {
  const row = await ledger(engine)
    .selectFrom('ops.reporting_zone')
    .select(['zone', 'first_day', 'last_day'])
    .executeTakeFirst()
  return {
    zone: row?.zone ?? defaultDays.zone,
    firstDay: row?.first_day ?? defaultDays.firstDay,
    lastDay: row?.last_day ?? defaultDays.lastDay,
  }
}

/** Whether days are counted as the settings say. */
export async function areDaysCurrent(engine: Engine): Promise<boolean> {
  const { days } = engine
  if (days === undefined) return true
  const stored = await storedDays(engine)
  return (['zone', 'firstDay', 'lastDay'] as const).every(name => days[name] === stored[name])
}

/** Runs inside a transaction; `now` is ISO 8601. Writes no row for the default: a copy needs an empty warehouse. */
export async function recountDays(engine: Engine, now: string): Promise<void> {
  const { days } = engine
  if (days === undefined || (await areDaysCurrent(engine))) return
  for (const recount of recounts(days)) await engine.run(recount)
  await ledger(engine).deleteFrom('ops.reporting_zone').execute()
  const { zone, firstDay, lastDay } = days
  await ledger(engine)
    .insertInto('ops.reporting_zone')
    .values({ zone, first_day: firstDay, last_day: lastDay, counted_at: now })
    .execute()
}
