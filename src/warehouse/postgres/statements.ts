/** Runs statements on one PostgreSQL session, each in its turn, and explains failures in one line. */
import type { Engine, SideSession, SqlValue } from '../engine.ts'
import { withPrefix } from '../schema/schemas.ts'
import { ConnectionTurns, interruptible, type Turns } from '../turns.ts'
import { statementError } from './failure.ts'
import { explainForeign } from './rights/foreign-rules.ts'
import { openSession, type PostgresAddress, type PostgresSession } from './session.ts'

export interface StatementsParts {
  readonly address: PostgresAddress
  readonly session: PostgresSession
  readonly prefix: string
  /** Whether the stage belongs to another warehouse. */
  readonly isStageShared: boolean
}

export interface PostgresStatements extends Pick<Engine, 'rows' | 'run'> {
  /** Runs work on the session when its turn comes; the tables in `sql` help to explain a failure. */
  inTurn<Result>(work: () => Promise<Result>, sql: string): Promise<Result>
}

/**
 * With no search path, a statement's meaning does not depend on objects that others created in the database. With
 * row_security off, the server raises an error instead of hiding rows, which would then be missing from merges and marts.
 */
export const defaultSettings = [`set search_path = ''`, 'set row_security = off']

/** Looks up foreign rules outside the transaction, which has failed. */
async function explained(
  { address, prefix }: StatementsParts,
  error: unknown,
  sql?: string,
): Promise<unknown> {
  const foreign = await explainForeign(error, {
    location: address.shown,
    schema: name => prefix + name,
    sql,
    rows: async query => {
      const beside = openSession(address, defaultSettings)
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
export function turnsOf(parts: StatementsParts): ConnectionTurns {
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
      // From here on a lost connection must fail its transaction.
      session.hold()
    },
    async commit() {
      const done = await bare('commit')
      session.release()
      if (done !== 'COMMIT') throw new Error('the server rolled back the transaction')
    },
    async rollback() {
      // On a lost connection this fails at once, as a new one has nothing to roll back.
      await bare('rollback').finally(() => session.release())
    },
  })
}

export function statementsOn(parts: StatementsParts, turns: Turns): PostgresStatements {
  const { session, prefix } = parts
  const inTurn = <Result>(work: () => Promise<Result>, sql: string): Promise<Result> =>
    turns.statement(async () => {
      try {
        return await interruptible(session.cancel, work)
      } catch (error) {
        throw await explained(parts, error, sql)
      }
    })
  const query = async (sql: string, values: readonly SqlValue[]) => {
    const client = await session.client()
    // Without values the simple protocol takes several statements in one call.
    return client.query(withPrefix(sql, prefix), values.length > 0 ? [...values] : undefined)
  }
  const rows = <Row extends object>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
    inTurn(async () => (await query(sql, values)).rows as Row[], sql)
  const run = (sql: string, values: readonly SqlValue[] = []): Promise<number> =>
    inTurn(async () => (await query(sql, values)).rowCount ?? 0, sql)
  return { inTurn, rows, run }
}

/** A read-only session without a stage, for a few figures of many warehouses. */
export type PostgresReader = SideSession & Pick<Engine, 'schema' | 'cacheKey'>

/** Throws MusterError. */
export async function openPostgresReader(address: PostgresAddress, prefix: string): Promise<PostgresReader> {
  const { rows, close } = await openBeside({ address, prefix })
  return { rows, close, schema: name => prefix + name, cacheKey: {} }
}

export async function openBeside({
  address,
  prefix,
}: Pick<StatementsParts, 'address' | 'prefix'>): Promise<SideSession> {
  const session = openSession(address, defaultSettings)
  await session.client()
  const parts = { address, session, prefix, isStageShared: true }
  const { rows } = statementsOn(parts, turnsOf(parts))
  return { rows, close: () => session.close() }
}
