/** Opens a PostgreSQL warehouse: one session of this process, beside a DuckDB in memory that reads the pages. */
import { join } from 'node:path'
import PQueue from 'p-queue'
import { MusterError } from '../../lib/errors.ts'
import { openStage } from '../duckdb/open.ts'
import type { Engine, Value } from '../engine.ts'
import { isSchemaPrefix, withPrefix } from '../schema/schemas.ts'
import { quoteText } from '../sql-text.ts'
import { createTurns } from '../turns.ts'
import { statementError } from './failure.ts'
import { type KeyRequests, type SharedKey, shareRequests } from './key-requests.ts'
import { type Address, openSession, type Session } from './session.ts'
import { transfersBetween } from './transfer.ts'

export interface PostgresOptions {
  /** Before the name of every schema. */
  readonly schemaPrefix?: string
  /** Folder for what the stage cannot hold in memory and for rows on their way; made when needed. */
  readonly scratch: string
  /** Of another warehouse, to copy into; it stays open when this one is closed. */
  readonly stage?: Engine
}

function checkedPrefix(prefix: string): string {
  if (prefix === '' || isSchemaPrefix(prefix)) return prefix
  throw new MusterError({
    what: 'schemaPrefix is no prefix for a schema',
    next: 'use lower case letters, digits and _, beginning with a letter other than in pg_, at most 40',
  })
}

/** Merges of one warehouse take turns: two of them may name the same new member, in any order. */
const mergeLock = (prefix: string): string =>
  `select pg_advisory_xact_lock(hashtextextended('muster merge ${prefix}', 0))`

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

interface Parts {
  readonly address: Address
  readonly session: Session
  readonly prefix: string
  readonly scratch: string
  /** Whether the stage is somebody else's. */
  readonly isLent: boolean
}

/** Statements of the engine, each in its turn. */
function statements({ address, session, prefix }: Parts) {
  const bare = async (sql: string): Promise<string> => {
    try {
      return (await (await session.client()).query(sql)).command
    } catch (error) {
      throw statementError(address.shown, error)
    }
  }
  const { exclusive, statement, transaction, onIdle } = createTurns({
    async begin() {
      await bare('begin')
      // From here on a lost connection must fail what was begun on it.
      session.hold()
    },
    async commit() {
      const done = await bare('commit')
      session.release()
      if (done !== 'COMMIT') throw new Error('the server rolled the transaction back')
    },
    async rollback() {
      session.release()
      await bare('rollback')
    },
  })
  const told = <Result>(work: () => Promise<Result>): Promise<Result> =>
    statement(async () => {
      try {
        return await work()
      } catch (error) {
        throw statementError(address.shown, error)
      }
    })
  const query = async (sql: string, values: readonly Value[]) => {
    const client = await session.client()
    // Without values the simple protocol takes several statements in one call.
    return client.query(withPrefix(sql, prefix), values.length > 0 ? [...values] : undefined)
  }
  const rows = <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
    told(async () => (await query(sql, values)).rows as Row[])
  const run = (sql: string, values: readonly Value[] = []): Promise<number> =>
    told(async () => (await query(sql, values)).rowCount ?? 0)
  return { exclusive, transaction, onIdle, told, rows, run }
}

async function requestsOf({ address, prefix }: Parts, key: SharedKey): Promise<KeyRequests> {
  const session = openSession(address, [`set search_path = ''`])
  const turns = new PQueue({ concurrency: 1 })
  const ask = <Row extends object>(sql: string, values: readonly Value[]): Promise<Row[]> =>
    turns.add(async () => {
      try {
        return (await (await session.client()).query(withPrefix(sql, prefix), [...values])).rows as Row[]
      } catch (error) {
        throw statementError(address.shown, error)
      }
    })
  try {
    return await shareRequests(ask, key, session)
  } catch (error) {
    await session.close()
    throw error
  }
}

function engineOver(parts: Parts, stage: Engine): Engine {
  const { address, session, prefix } = parts
  const { exclusive, transaction, onIdle, told, rows, run } = statements(parts)
  const transfers = transfersBetween({
    stage,
    folder: parts.scratch,
    client: () => session.client(),
    spell: sql => withPrefix(sql, prefix),
  })
  return {
    name: 'postgres',
    location: address.shown,
    schema: name => prefix + name,
    rows,
    run,
    transaction(work) {
      return transaction(() => work(this))
    },
    merge(work) {
      return transaction(async () => {
        await run(mergeLock(prefix))
        return work(this)
      }, 'long')
    },
    exclusive(work) {
      return exclusive(() => work(this))
    },
    staging(work) {
      return stage.staging((_, release) => work(this, release))
    },
    announce: name => told(() => session.always(`select pg_advisory_lock_shared(${holderLock(name)})`)),
    async isPresent(name) {
      return (await rows(`select pid from ${holders(name)}`)).length > 0
    },
    async evict(name) {
      // A role that may not end it goes on, and waits where the other holds a lock.
      await rows(`select pg_terminate_backend(pid, ${evictionMs}) from ${holders(name)}`).catch(() => [])
    },
    stage,
    send: items => transfers.send(items),
    receive: transfer => told(() => transfers.receive(transfer)),
    sendToStage: (name, columns, select) => told(() => transfers.sendToStage(name, columns, select)),
    shareRequests: key => requestsOf(parts, key),
    async close() {
      await onIdle()
      await session.close()
      if (!parts.isLent) await stage.close()
      transfers.close()
    },
  }
}

/** Connects at once, so that a wrong address is told before anything else is done. Throws MusterError. */
export async function openPostgres(address: Address, options: PostgresOptions): Promise<Engine> {
  const prefix = checkedPrefix(options.schemaPrefix ?? '')
  // Nothing is found by luck: what a statement means does not depend on what others made in the database.
  const session = openSession(address, [`set search_path = ''`])
  await session.client()
  const stage = options.stage ?? (await openStage(join(options.scratch, 'stage')))
  return engineOver(
    { address, session, prefix, scratch: options.scratch, isLent: options.stage !== undefined },
    stage,
  )
}
