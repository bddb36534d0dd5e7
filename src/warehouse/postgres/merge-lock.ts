/** Serialises the merges of one warehouse with a lock, and reports which session has it. */
import { Busy, MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteName } from '../sql-text.ts'

/**
 * The table to lock. Only a role that may write the ledger can lock it against writers, while any user who may connect could
 * take an advisory lock. Only migrations write it, and its readers do not wait.
 */
const locked = 'migration'

/** Seconds that a merge waits for its turn; the longest batch takes a few seconds. */
export const defaultPatience = 30

interface LockHolder {
  readonly pid: number
  readonly user: string
  readonly application: string
  /** ISO 8601; null if this role may not see it. */
  readonly since: string | null
}

const sqlState = (error: unknown): unknown =>
  error instanceof MusterError ? sqlState(error.cause) : (Object(error) as { code?: unknown }).code

/** When two processes create the same tables at once, the second waits and fails once the first commits. */
const isMadeTwice = (error: unknown): boolean => ['23505', '42P06', '42P07'].includes(String(sqlState(error)))

class LockTaken extends Error {}

const isThere = async (engine: Pick<Engine, 'rows' | 'schema'>): Promise<boolean> => {
  const found = await engine.rows(
    `select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = '${locked}'`,
    [engine.schema('ops')],
  )
  return found.length > 0
}

/** Runs a locking statement inside a transaction with its own lock timeout; restores the previous timeout afterwards. */
export async function lockWithin(engine: Engine, seconds: number, statement: string): Promise<void> {
  const [before] = await engine.rows<{ limit: string }>(
    `select pg_catalog.current_setting('lock_timeout') as "limit", pg_catalog.set_config('lock_timeout', '${seconds}s', true)`,
  )
  await engine.run(statement)
  await engine.run(`set local lock_timeout = '${before?.limit}'`)
}

/** Must run first in a transaction. False before the first migration, when there is no table to lock or merge into. */
async function takeTurn(engine: Engine, seconds: number): Promise<boolean> {
  if (!(await isThere(engine))) return false
  try {
    const table = `${quoteName(engine.schema('ops'))}.${locked}`
    await lockWithin(engine, seconds, `lock table ${table} in exclusive mode`)
    return true
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new LockTaken('another session merges', { cause: error })
  }
}

async function holderOf(engine: Pick<Engine, 'rows' | 'schema'>): Promise<LockHolder | undefined> {
  const [holder] = await engine.rows<LockHolder>(
    `select a.pid, coalesce(a.usename::text, 'unknown') as user, coalesce(a.application_name, '') as application,
       a.xact_start as since
     from pg_catalog.pg_locks l
     join pg_catalog.pg_class c on c.oid = l.relation
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     join pg_catalog.pg_stat_activity a on a.pid = l.pid
     where l.granted and l.mode <> 'AccessShareLock' and l.pid <> pg_catalog.pg_backend_pid()
       and l.database = (select oid from pg_catalog.pg_database where datname = current_database())
       and n.nspname = $1 and c.relname = '${locked}'
     order by a.xact_start limit 1`,
    [engine.schema('ops')],
  )
  return holder
}

const wordsOf = ({ pid, user, application, since }: LockHolder): string =>
  `process ${pid} of user ${user}${application === '' ? '' : `, ${application}`}${since === null ? '' : `, since ${since}`}`

export interface MergeTurn {
  /** The engine outside the transaction. */
  readonly engine: Pick<Engine, 'rows' | 'schema' | 'location'>
  transaction<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** How long to wait for the turn, in seconds. */
  readonly patience: number
}

async function lockTimeout({ engine, patience }: MergeTurn, cause: unknown): Promise<Busy> {
  const holder = await holderOf(engine)
  return new Busy({
    what: `another session has been merging into this warehouse for more than ${patience} s${holder ? `: ${wordsOf(holder)}` : ''}`,
    where: engine.location,
    next: `run again when it is done${holder ? `, or end it with select pg_terminate_backend(${holder.pid})` : ''}; what was committed is kept`,
    cause,
  })
}

/** Throws Busy when another merge does not end. */
export async function mergeInTurn<Result>(
  turn: MergeTurn,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  let hasTurn = false
  const inTurn = async (engine: Engine): Promise<Result> => {
    hasTurn = await takeTurn(engine, turn.patience)
    return work(engine)
  }
  try {
    return await turn.transaction(inTurn)
  } catch (error) {
    if (error instanceof LockTaken) throw await lockTimeout(turn, error.cause)
    // Try again: both processes started before the first merge created the tables to lock.
    if (hasTurn || !isMadeTwice(error)) throw error
    return turn.transaction(inTurn)
  }
}
