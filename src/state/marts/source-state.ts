/** The state of what marts read: while it stays the same, so do the rows of a mart. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { ledgerTables } from '../tables.ts'
import { type WriteCounts, writeCounts } from './writes.ts'

/** What the rows of star follow beside counted writes. */
export interface SourceState {
  /** Of tables, views and seeds, and the zone in which days are counted. */
  readonly structure: string
  readonly writes: WriteCounts
}

export async function sourceState(engine: Engine): Promise<SourceState> {
  const [row] = await engine.rows<Record<'checksum' | 'version' | 'zone', string | null>>(
    `select (select max(checksum) from ops.migration where name = 'structure') as checksum,
       (select max(checksum) from ops.migration where name = 'schema') as version,
       (select max(zone) from ops.reporting_zone) as zone`,
  )
  return {
    structure: `structure ${row?.version} ${row?.checksum?.slice(0, 12)}, ${row?.zone}`,
    writes: await writeCounts(engine),
  }
}

/** Deliveries reach star outside merges, and only ever add to these figures. */
export async function eventsState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<Record<string, string | number>>(
    `select count(*) as events, coalesce(sum(delivered_count), 0) as deliveries, count(fetched_at) as fetched
     from star.fact_webhook_event`,
  )
  return `events ${Object.values(row ?? {}).join(' ')}`
}

/** A build writes its own run. */
const seenRows: Readonly<Record<string, string>> = { run: `where command <> 'build'` }

/** In milliseconds. Latest times alone would miss one that is committed after a later one. */
const sumOf = (time: string): string =>
  `cast(sum(cast(extract(epoch from ${quoteName(time)}) * 1000 as bigint)) as varchar) as ${quoteName(time)}`

/** Those of these tables that are in ops. They are small: rows are counted by state, and their times are added. */
export async function ledgerStates(engine: Engine, tables: readonly string[]): Promise<string[]> {
  const states: string[] = []
  for (const { schema, name, columns } of ledgerTables) {
    if (schema !== 'ops' || !tables.includes(`ops.${name}`)) continue
    const times = Object.keys(columns).filter(column => columns[column]?.sql === 'timestamptz')
    const state = columns.state ? 'state' : `''`
    const rows = await engine.rows(
      `select ${[`${state} as state`, 'count(*) as n', ...times.map(sumOf)].join(', ')}
       from ops.${quoteName(name)} ${seenRows[name] ?? ''} group by 1 order by 1`,
    )
    states.push(`ops.${name} ${rows.map(row => Object.values(row).join(' ')).join(', ')}`)
  }
  return states
}

/** End of the last run that read the service, or its start where its process died; null before the first. */
export async function lastRead(engine: Engine): Promise<string | null> {
  const [row] = await engine.rows<{ at: string | null }>(
    `select max(coalesce(finished_at, started_at)) as at from ops.run where records_read > 0 and command <> 'replay'`,
  )
  return row?.at ?? null
}
