/** Which holders of leases are alive: each keeps an advisory lock for as long as its session lives. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteText } from '../sql-text.ts'
import type { Session } from './session.ts'
import type { Statements } from './statements.ts'

/**
 * Held by a session while the process behind it lives: a process that is gone lets go of it. Shared, so that a session
 * opened anew does not wait for one that the server has not noticed to be gone.
 */
const holderLock = (name: string): string => `hashtextextended(${quoteText(`muster holder ${name}`)}, 0)`

/** Sessions that hold it. A lock of 64 bits is listed as two halves. */
const holders = (name: string): string =>
  `pg_locks where locktype = 'advisory' and granted and objsubid = 1
   and database = (select oid from pg_database where datname = current_database())
   and ((classid::bigint << 32) | objid::bigint) = ${holderLock(name)}`

/** How long a takeover waits for the server to end a session, in milliseconds. */
const evictionMs = 5000

/** The role may not end sessions of another. */
const isForbidden = (error: unknown): boolean =>
  error instanceof MusterError && (Object(error.cause) as { code?: unknown }).code === '42501'

export const holdersOn = (
  session: Session,
  { inTurn, rows }: Statements,
): Pick<Engine, 'announce' | 'isPresent' | 'evict'> => ({
  announce: name => inTurn(() => session.always(`select pg_advisory_lock_shared(${holderLock(name)})`)),
  async isPresent(name) {
    return (await rows(`select pid from ${holders(name)}`)).length > 0
  },
  async evict(name) {
    try {
      await rows(`select pg_terminate_backend(pid, ${evictionMs}) from ${holders(name)}`)
    } catch (error) {
      // Without the right to end it, a takeover waits where the other holds a lock.
      if (!isForbidden(error)) throw error
    }
  },
})
