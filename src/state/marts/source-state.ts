/** Describes the state of a mart's sources: while it is unchanged, so are the rows of the mart. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { ledgerTables } from '../tables.ts'
import { type WriteCounts, writeCounts } from './writes.ts'

/** State that changes the rows of star without a counted write. */
export interface SourceState {
  /** Version and checksum of tables, views and seeds, and how days are counted. */
  readonly structure: string
  readonly writes: WriteCounts
}

export async function sourceState(engine: Engine): Promise<SourceState> {
  const [row] = await engine.rows<Record<'checksum' | 'version' | 'zone', string | null>>(
    `select (select max(checksum) from ops.migration where name = 'structure') as checksum,
       (select max(checksum) from ops.migration where name = 'schema') as version,
       (select max(concat_ws(' ', zone, first_day, last_day)) from ops.reporting_zone) as zone`,
  )
  return {
    structure: `structure ${row?.version} ${row?.checksum?.slice(0, 12)}, ${row?.zone}`,
    writes: await writeCounts(engine),
  }
}

/** Events reach star outside merges; these counts only grow. */
export async function eventsState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<Record<string, string | number>>(
    `select count(*) as events, coalesce(sum(delivered_count), 0) as deliveries, count(fetched_at) as fetched
     from star.fact_webhook_event`,
  )
  return `events ${Object.values(row ?? {}).join(' ')}`
}

/** Leaves out builds: a build writes a run of its own. */
const seenRows: Readonly<Record<string, string>> = { run: `where command <> 'build'` }

/** Sums milliseconds: the latest time alone would miss a row committed after a later one. */
const sumOf = (time: string): string =>
  `cast(sum(cast(extract(epoch from ${quoteName(time)}) * 1000 as bigint)) as varchar) as ${quoteName(time)}`

/** State of the given tables that are in ops. They are small, so it counts rows by state and sums their times. */
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

/** End of the last run that read from the service, or its start if its process died; null before the first. */
export async function lastRead(engine: Engine): Promise<string | null> {
  const [row] = await engine.rows<{ at: string | null }>(
    `select max(coalesce(finished_at, started_at)) as at from ops.run where records_read > 0 and command <> 'replay'`,
  )
  return row?.at ?? null
}
