/** Opens a PostgreSQL warehouse: one session of this process, beside a DuckDB in memory that reads the pages. */
import { join } from 'node:path'
import PQueue from 'p-queue'
import { MusterError } from '../../lib/errors.ts'
import { openStage } from '../duckdb/open.ts'
import type { Engine, Value, Work } from '../engine.ts'
import { isSchemaPrefix, withPrefix } from '../schema/schemas.ts'
import { quoteText } from '../sql-text.ts'
import { ConnectionTurns, type Turns } from '../turns.ts'
import { statementError } from './failure.ts'
import { type KeyRequests, type SharedKey, shareRequests } from './key-requests.ts'
import { type Address, openSession, type Session } from './session.ts'
import { receiveFiles, sendAsFiles, sendToStage, TransferFiles } from './transfer.ts'

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
  /** Whether the stage is somebody else's. */
  readonly isStageShared: boolean
}

/** The turns of the one session, whose transactions a lost connection fails. */
function turnsOf({ address, session }: Parts): ConnectionTurns {
  const bare = async (sql: string): Promise<string> => {
    try {
      return (await (await session.client()).query(sql)).command
    } catch (error) {
      throw statementError(address.shown, error)
    }
  }
  return new ConnectionTurns({
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
}

/** Statements of the engine, each in its turn. */
function statements({ address, session, prefix }: Parts, turns: Turns) {
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    turns.statement(async () => {
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
    inTurn(async () => (await query(sql, values)).rows as Row[])
  const run = (sql: string, values: readonly Value[] = []): Promise<number> =>
    inTurn(async () => (await query(sql, values)).rowCount ?? 0)
  return { inTurn, rows, run }
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

interface Server {
  readonly parts: Parts
  readonly main: ConnectionTurns
  readonly files: TransferFiles
  /** The stage of the main connection. */
  readonly stage: Engine
}

/** Where the statements of an engine run: the turns of all users of the session or of one block, and a stage. */
interface Seat {
  readonly turns: Turns
  readonly stage: Engine
}

function blocksOn(server: Server, { turns, stage }: Seat) {
  const { prefix } = server.parts
  const within = (own: Turns): Engine => engineOn(server, { turns: own, stage })
  return {
    transaction: <Result>(work: Work<Result>): Promise<Result> => turns.transaction(own => work(within(own))),
    merge: <Result>(work: Work<Result>): Promise<Result> =>
      turns.transaction(async own => {
        const engine = within(own)
        await engine.run(mergeLock(prefix))
        return work(engine)
      }, 'long'),
    exclusive: <Result>(work: Work<Result>): Promise<Result> => turns.exclusive(own => work(within(own))),
    staging: <Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> =>
      stage.staging((own, release) => work(engineOn(server, { turns, stage: own }), release)),
  }
}

async function closeServer({ parts, main, files, stage }: Server): Promise<void> {
  await main.onIdle()
  await parts.session.close()
  if (!parts.isStageShared) await stage.close()
  files.remove()
}

function engineOn(server: Server, seat: Seat): Engine {
  const { parts, files } = server
  const { stage } = seat
  const { inTurn, rows, run } = statements(parts, seat.turns)
  const ends = {
    stage,
    client: () => parts.session.client(),
    withPrefix: (sql: string) => withPrefix(sql, parts.prefix),
  }
  return {
    name: 'postgres',
    location: parts.address.shown,
    cacheKey: server,
    schema: name => parts.prefix + name,
    rows,
    run,
    ...blocksOn(server, seat),
    announce: name =>
      inTurn(() => parts.session.always(`select pg_advisory_lock_shared(${holderLock(name)})`)),
    async isPresent(name) {
      return (await rows(`select pid from ${holders(name)}`)).length > 0
    },
    async evict(name) {
      // A role that may not end it goes on, and waits where the other holds a lock.
      await rows(`select pg_terminate_backend(pid, ${evictionMs}) from ${holders(name)}`).catch(() => [])
    },
    stage,
    send: items => sendAsFiles(stage, files, items),
    receive: transfer => inTurn(() => receiveFiles(ends, transfer)),
    sendToStage: (name, columns, select) => inTurn(() => sendToStage(ends, files, { name, columns, select })),
    shareRequests: key => requestsOf(parts, key),
    close: () => closeServer(server),
  }
}

/** Connects at once, so that a wrong address is told before anything else is done. Throws MusterError. */
export async function openPostgres(address: Address, options: PostgresOptions): Promise<Engine> {
  const prefix = checkedPrefix(options.schemaPrefix ?? '')
  // Nothing is found by luck: what a statement means does not depend on what others made in the database.
  const session = openSession(address, [`set search_path = ''`])
  await session.client()
  const stage = options.stage ?? (await openStage(join(options.scratch, 'stage')))
  const parts = { address, session, prefix, isStageShared: options.stage !== undefined }
  const main = turnsOf(parts)
  const files = new TransferFiles(options.scratch)
  return engineOn({ parts, main, files, stage }, { turns: main, stage })
}
