/** Statements on the one session with PostgreSQL, each in its turn, with failures explained in one line. */
import type { Engine, SideSession, Value } from '../engine.ts'
import { withPrefix } from '../schema/schemas.ts'
import { ConnectionTurns, type Turns } from '../turns.ts'
import { interruptible } from '../under-way.ts'
import { statementError } from './failure.ts'
import { explainForeign } from './rights/foreign-rules.ts'
import { type Address, openSession, type Session } from './session.ts'

export interface Parts {
  readonly address: Address
  readonly session: Session
  readonly prefix: string
  /** Whether the stage belongs to another warehouse. */
  readonly isStageShared: boolean
}

export interface Statements extends Pick<Engine, 'rows' | 'run'> {
  /** Runs work on the session when its turn comes; `sql` names the tables that it is about. */
  inTurn<Result>(work: () => Promise<Result>, sql: string): Promise<Result>
}

/**
 * With no search path, the meaning of a statement does not depend on objects that others created in the database. Rows that a
 * policy hides would be missing from merges and marts: with this off the server refuses to hide them.
 */
export const usualSettings = [`set search_path = ''`, 'set row_security = off']

/** What others put on the tables is looked up beside the transaction, which has failed. */
async function explained({ address, prefix }: Parts, error: unknown, sql?: string): Promise<unknown> {
  const foreign = await explainForeign(error, {
    location: address.shown,
    schema: name => prefix + name,
    sql,
    rows: async query => {
      const beside = openSession(address, usualSettings)
      try {
        return (await (await beside.client()).query(query)).rows
      } finally {
        await beside.close()
      }
    },
  })
  return statementError(address.shown, foreign)
}

/** The turns of the session; a lost connection fails its transaction. */
export function turnsOf(parts: Parts): ConnectionTurns {
  const { session } = parts
  const bare = async (sql: string): Promise<string> => {
    try {
      const { command } = await interruptible(session.cancel, async () => (await session.client()).query(sql))
      return command
    } catch (error) {
      throw await explained(parts, error)
    }
  }
  return new ConnectionTurns({
    async begin() {
      await bare('begin')
      // From here on a lost connection must fail the transaction that began on it.
      session.hold()
    },
    async commit() {
      const done = await bare('commit')
      session.release()
      if (done !== 'COMMIT') throw new Error('the server rolled the transaction back')
    },
    async rollback() {
      // On a lost connection this fails at once: a new one has nothing to roll back.
      await bare('rollback').finally(() => session.release())
    },
  })
}

export function statementsOn(parts: Parts, turns: Turns): Statements {
  const { session, prefix } = parts
  const inTurn = <Result>(work: () => Promise<Result>, sql: string): Promise<Result> =>
    turns.statement(async () => {
      try {
        return await interruptible(session.cancel, work)
      } catch (error) {
        throw await explained(parts, error, sql)
      }
    })
  const query = async (sql: string, values: readonly Value[]) => {
    const client = await session.client()
    // Without values the simple protocol takes several statements in one call.
    return client.query(withPrefix(sql, prefix), values.length > 0 ? [...values] : undefined)
  }
  const rows = <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
    inTurn(async () => (await query(sql, values)).rows as Row[], sql)
  const run = (sql: string, values: readonly Value[] = []): Promise<number> =>
    inTurn(async () => (await query(sql, values)).rowCount ?? 0, sql)
  return { inTurn, rows, run }
}

/** A session that only reads, without a stage: for a few figures of many warehouses. */
export type PostgresReader = SideSession & Pick<Engine, 'schema' | 'cacheKey'>

/** Throws MusterError. */
export async function openPostgresReader(address: Address, prefix: string): Promise<PostgresReader> {
  const { rows, close } = await openBeside({ address, prefix })
  return { rows, close, schema: name => prefix + name, cacheKey: {} }
}

export async function openBeside({
  address,
  prefix,
}: Pick<Parts, 'address' | 'prefix'>): Promise<SideSession> {
  const session = openSession(address, usualSettings)
  await session.client()
  const parts = { address, session, prefix, isStageShared: true }
  const { rows } = statementsOn(parts, turnsOf(parts))
  return { rows, close: () => session.close() }
}
