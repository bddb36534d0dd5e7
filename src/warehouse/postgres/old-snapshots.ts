/**
 * Waits for snapshots that keep erased row versions in the files of a server: until they end, a vacuum leaves those versions
 * there. Any user who may connect can hold one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Busy } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'

interface SnapshotHolder {
  /** Its name in messages. */
  readonly words: string
  /** How to end it. */
  readonly end: string
}

/** A walsender has no database: its standby's snapshots count for every database. */
const keepers = `
  select 'process ' || pid || coalesce(' of user ' || usename, '')
      || case when application_name <> '' then ', ' || application_name else '' end as words,
    'select pg_terminate_backend(' || pid || ')' as "end"
  from pg_catalog.pg_stat_activity
  where (datname = current_database() or datname is null) and pid <> pg_catalog.pg_backend_pid()
    and greatest(age(backend_xmin), age(backend_xid)) >= age(cast($1 as xid))
  union all
  select 'prepared transaction ' || gid || ' of user ' || owner, 'rollback prepared ' || quote_literal(gid)
  from pg_catalog.pg_prepared_xacts
  where database = current_database() and age(transaction) >= age(cast($1 as xid))
  union all
  select 'replication slot ' || slot_name, 'its standby, or pg_drop_replication_slot'
  from pg_catalog.pg_replication_slots where age(xmin) >= age(cast($1 as xid))
  order by 1`

const betweenLooksMs = 500

/** Throws Busy if a snapshot stays for longer than `patience` seconds. */
export async function awaitOldSnapshots(
  engine: Pick<Engine, 'rows' | 'location'>,
  { patience, signal }: { readonly patience: number; readonly signal: AbortSignal },
): Promise<void> {
  const [now] = await engine.rows<{ xid: string }>(
    'select cast(cast(pg_catalog.pg_current_xact_id() as xid) as text) as xid',
  )
  for (let waitedMs = 0; ; waitedMs += betweenLooksMs) {
    const [first] = await engine.rows<SnapshotHolder>(keepers, [now?.xid ?? ''])
    if (!first) return
    if (waitedMs >= patience * 1000)
      throw new Busy({
        what: `a session can still see the old versions of rows: ${first.words}`,
        where: engine.location,
        next: `run the same command again when it has ended, or end it: ${first.end}`,
      })
    await pause(betweenLooksMs, undefined, { signal })
  }
}
