/** What the sources of a mart look like, as a short text: as long as it stays the same, so do the rows of the mart. */
import type { Engine } from '../warehouse/engine.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import type { Mart } from './mart.ts'
import { type Moment, momentOf } from './tokens.ts'

/** Read by the counter of changes, or written by the build itself. */
const notAsked = new Set(['ops.run', 'ops.mart'])

/**
 * Every row that any run inserted, changed or removed counts, in the transaction that holds it, so the sum moves exactly
 * when star does. A replay brings rows that no run counts; a migration may change views and seeds.
 */
export async function starState(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{ changes: number; replays: number; structure: string | null }>(
    `select cast(coalesce(sum(rows_inserted + rows_changed + rows_removed), 0) as bigint) as changes,
       count(case when command = 'replay' then 1 end) as replays,
       (select max(checksum) from ops.migration where name = 'structure') as structure
     from ops.run`,
  )
  return `${row?.changes} changes, ${row?.replays} replays, structure ${row?.structure?.slice(0, 12)}`
}

/** Tables of the ledger are small: their rows are counted, and the latest of each of their times is taken. */
async function ledgerState(engine: Engine, table: string): Promise<string> {
  const [schema, name = ''] = table.split('.')
  const times = await engine.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_catalog = current_database()
     and table_schema = $1 and table_name = $2 and lower(data_type) = 'timestamp with time zone' order by 1`,
    [engine.schema('ops'), name],
  )
  const latest = times.map(column => `, max(${quoteName(column.name)}) as ${quoteName(column.name)}`)
  const rows = await engine.rows(`select count(*) as n${latest.join('')} from ${schema}.${quoteName(name)}`)
  return `${table} ${Object.values(rows[0] ?? {}).join(' ')}`
}

/** `builtAt` tells when a mart was last built. */
export async function sourcesOf(
  engine: Engine,
  mart: Mart,
  { star, moment, builtAt }: { star: string; moment: Moment; builtAt: (name: string) => string | null },
): Promise<string> {
  const parts = [star, momentOf(mart.select, moment)]
  for (const name of mart.reads) {
    if (name.startsWith('mart.')) parts.push(`${name} ${builtAt(name.slice('mart.'.length))}`)
    else if (name.startsWith('ops.') && !notAsked.has(name)) parts.push(await ledgerState(engine, name))
  }
  return parts.filter(part => part !== '').join('; ')
}

/** End of the last run that read the service; null before the first. */
export async function lastRead(engine: Engine): Promise<string | null> {
  const [row] = await engine.rows<{ at: string | null }>(
    `select max(finished_at) as at from ops.run where records_read > 0 and command <> 'replay'`,
  )
  return row?.at ?? null
}
