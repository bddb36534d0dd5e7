/** Tells which holders of leases are alive: each keeps an advisory lock while its session lives. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteText } from '../sql-text.ts'
import type { PostgresSession } from './session.ts'
import type { PostgresStatements } from './statements.ts'

/**
 * A session holds it while its process lives, so a dead process releases it. The lock is shared, so that a reopened session
 * does not wait for its dead predecessor, which the server may not have noticed yet.
 */
const holderLock = (name: string): string => `hashtextextended(${quoteText(`muster holder ${name}`)}, 0)`

/**
 * Sessions that hold the lock; pg_locks lists a 64-bit lock as two halves. Any user may take such a lock, so only roles that
 * may write leases count.
 */
const holders = (name: string, ops: string): string =>
  `pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and granted and objsubid = 1
   and database = (select oid from pg_database where datname = current_database())
   and ((classid::bigint << 32) | objid::bigint) = ${holderLock(name)}
   and has_table_privilege(usesysid, (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = ${quoteText(ops)} and c.relname = 'lease'), 'update')`

/** How long a takeover waits for the server to end a session, in milliseconds. */
const evictionMs = 5000

/** The role may not end sessions of another role. */
const isForbidden = (error: unknown): boolean =>
  error instanceof MusterError && (Object(error.cause) as { code?: unknown }).code === '42501'

export const holdersOn = (
  session: PostgresSession,
  { inTurn, rows }: PostgresStatements,
  /** Name of the schema of the ledger. */
  ops: string,
): Pick<Engine, 'announce' | 'isPresent' | 'evict'> => ({
  // Does not wait: another user who takes the lock exclusively must not block a reopened session.
  announce: name =>
    inTurn(() => session.always(`select pg_try_advisory_lock_shared(${holderLock(name)})`), ''),
  async isPresent(name) {
    return (await rows(`select pid from ${holders(name, ops)}`)).length > 0
  },
  async evict(name) {
    try {
      await rows(`select pg_terminate_backend(pid, ${evictionMs}) from ${holders(name, ops)}`)
    } catch (error) {
      // Without that right, a takeover waits for the locks of the other session.
      if (!isForbidden(error)) throw error
    }
  },
})
