/** Which holders of leases are alive: each keeps an advisory lock for as long as its session lives. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteText } from '../sql-text.ts'
import type { Session } from './session.ts'
import type { Statements } from './statements.ts'

/**
 * A session holds it while its process lives, so the lock of a dead process is released. Shared, so that a reopened session
 * does not wait for a dead one that the server has not noticed yet.
 */
const holderLock = (name: string): string => `hashtextextended(${quoteText(`muster holder ${name}`)}, 0)`

/**
 * Sessions that hold it; pg_locks lists a 64-bit lock as two halves. Everybody may take such a lock, so only those of roles
 * that may write leases count.
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
  session: Session,
  { inTurn, rows }: Statements,
  /** Name of the schema of the ledger. */
  ops: string,
): Pick<Engine, 'announce' | 'isPresent' | 'evict'> => ({
  // Tried only: somebody else who takes the lock for himself must not stop a session that is opened again.
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
