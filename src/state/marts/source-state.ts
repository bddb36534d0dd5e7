/** The state of what marts read, as short texts: while they stay the same, so do the rows of a mart. */
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { ledgerTables } from '../tables.ts'

/** Read by `starState`, or written by the build itself. */
const left = new Set(['ops.run', 'ops.mart'])

/** Whether `ledgerStates` tells of every change of a table. */
export const hasLedgerState = (table: string): boolean => table.startsWith('ops.') && !left.has(table)

/** The state of all that changes star as a whole, besides merges of records. Who is forgotten loses values in any table. */
export async function wholeState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<Record<string, string | number | null>>(
    `select (select count(*) from ops.run where command = 'replay') as replays,
       (select max(checksum) from ops.migration where name = 'structure') as structure,
       (select max(zone) from ops.reporting_zone) as zone,
       (select max(settled_at) from ops.company_currency) as currencies,
       (select count(*) from ops.forgotten) as forgotten, (select max(begun_at) from ops.forgotten) as begun,
       (select max(done_at) from ops.forgotten) as done`,
  )
  return Object.values(row ?? {}).join(' ')
}

/** Moves with every record that is touched without another content; of marts that read its bookkeeping. */
export async function touchState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{ n: number }>(
    'select cast(coalesce(sum(records_touched), 0) as bigint) as n from ops.run',
  )
  return `${row?.n} touched`
}

/**
 * Rows that any run inserted, changed or removed are counted in the transaction that writes them, so the sum moves exactly
 * when star does. No run counts the rows of a replay, and a migration may change views and seeds.
 */
export async function starState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{
    changes: number
    merges: number
    replays: number
    structure: string | null
    zone: string | null
    currencies: string | null
  }>(
    `select cast(coalesce(sum(rows_inserted + rows_changed + rows_removed), 0) as bigint) as changes,
       (select coalesce(max(position), 0) from ops.changed_record) as merges,
       count(case when command = 'replay' then 1 end) as replays,
       (select max(checksum) from ops.migration where name = 'structure') as structure,
       (select max(zone) from ops.reporting_zone) as zone,
       (select cast(count(*) as varchar) || ' currencies of ' || cast(max(settled_at) as varchar)
        from ops.company_currency) as currencies
     from ops.run`,
  )
  return `${row?.changes} changes, ${row?.merges} merges, ${row?.replays} replays, structure ${row?.structure?.slice(0, 12)}, ${row?.zone}, ${row?.currencies}`
}

/** Deliveries reach star without a run that counts them: they are counted here, and the latest of their times is taken. */
export async function eventsState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<Record<string, string | number | null>>(
    `select count(*) as events, coalesce(sum(delivered_count), 0) as deliveries, max(loaded_at) as loaded,
       max(fetched_at) as fetched from star.fact_webhook_event`,
  )
  return `events ${Object.values(row ?? {}).join(' ')}`
}

/** Columns of a table from its declaration: the catalogue, which a view needs, takes DuckDB 20 ms. */
async function timesOf(engine: Engine, name: string): Promise<string[]> {
  const declared = ledgerTables.find(table => table.name === name)
  if (declared)
    return Object.entries(declared.columns)
      .filter(([, { sql }]) => sql === 'timestamptz')
      .map(([column]) => column)
      .sort()
  const columns = await engine.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_catalog = current_database()
     and table_schema = $1 and table_name = $2 and lower(data_type) = 'timestamp with time zone' order by 1`,
    [engine.schema('ops'), name],
  )
  return columns.map(column => column.name)
}

/** Of those of these tables that are in ops. They are small: rows are counted, and the latest of each time is taken. */
export async function ledgerStates(engine: Engine, tables: readonly string[]): Promise<string[]> {
  const states: string[] = []
  for (const table of tables) {
    const [, name = ''] = table.split('.')
    if (!hasLedgerState(table)) continue
    const times = await timesOf(engine, name)
    const latest = times.map(time => `, max(${quoteName(time)}) as ${quoteName(time)}`)
    const rows = await engine.rows(`select count(*) as n${latest.join('')} from ops.${quoteName(name)}`)
    states.push(`${table} ${Object.values(rows[0] ?? {}).join(' ')}`)
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
