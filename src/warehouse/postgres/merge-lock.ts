/** The lock that merges of one warehouse take in turn, and who has it. */
import { Busy, MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteName } from '../sql-text.ts'

/**
 * Only a role that may write the ledger can lock this table against writers, where anybody who may connect could take an
 * advisory lock. Nobody else writes it, and its readers do not wait.
 */
const locked = 'migration'

/** How long a merge waits for its turn: the longest batch takes a few seconds. */
export const usualPatience = 30

interface Holder {
  readonly pid: number
  readonly user: string
  readonly application: string
  /** ISO 8601; null where this role may not see it. */
  readonly since: string | null
}

const sqlState = (error: unknown): unknown =>
  error instanceof MusterError ? sqlState(error.cause) : (Object(error) as { code?: unknown }).code

/** Two processes that make the same tables at the same moment: the second waits, and fails when the first commits. */
const isMadeTwice = (error: unknown): boolean => ['23505', '42P06', '42P07'].includes(String(sqlState(error)))

class NotMyTurn extends Error {}

const isThere = async (engine: Pick<Engine, 'rows' | 'schema'>): Promise<boolean> => {
  const found = await engine.rows(
    `select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = '${locked}'`,
    [engine.schema('ops')],
  )
  return found.length > 0
}

/** Runs a statement that locks, inside a transaction; afterwards locks wait as long as before, where `default` is the database's. */
export async function lockWithin(engine: Engine, seconds: number, statement: string): Promise<void> {
  const [before] = await engine.rows<{ limit: string }>(
    `select pg_catalog.current_setting('lock_timeout') as "limit", pg_catalog.set_config('lock_timeout', '${seconds}s', true)`,
  )
  await engine.run(statement)
  await engine.run(`set local lock_timeout = '${before?.limit}'`)
}

/** First in a transaction. False before the first migration: there is nothing to lock, and nothing to merge into. */
async function takeTurn(engine: Engine, seconds: number): Promise<boolean> {
  if (!(await isThere(engine))) return false
  try {
    const table = `${quoteName(engine.schema('ops'))}.${locked}`
    await lockWithin(engine, seconds, `lock table ${table} in exclusive mode`)
    return true
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new NotMyTurn('another session merges', { cause: error })
  }
}

async function holderOf(engine: Pick<Engine, 'rows' | 'schema'>): Promise<Holder | undefined> {
  const [holder] = await engine.rows<Holder>(
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

const wordsOf = ({ pid, user, application, since }: Holder): string =>
  `process ${pid} of user ${user}${application === '' ? '' : `, ${application}`}${since === null ? '' : `, since ${since}`}`

export interface MergeTurn {
  /** Outside of the transaction. */
  readonly engine: Pick<Engine, 'rows' | 'schema' | 'location'>
  transaction<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** How long to wait for the turn, in seconds. */
  readonly patience: number
}

async function waitedInVain({ engine, patience }: MergeTurn, cause: unknown): Promise<Busy> {
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
    if (error instanceof NotMyTurn) throw await waitedInVain(turn, error.cause)
    // The first merge of all makes the tables: there was nothing to lock yet when both began.
    if (hasTurn || !isMadeTwice(error)) throw error
    return turn.transaction(inTurn)
  }
}
