/** Opens a PostgreSQL warehouse: one session of this process, beside a DuckDB in memory that reads the pages. */
import type { DayRule } from '../../lib/day-rule.ts'
import { MusterError } from '../../lib/errors.ts'
import { openStage } from '../duckdb/open.ts'
import type { Engine, EngineTraits, EngineWork, Transfer, TypedColumn } from '../engine.ts'
import { isSchemaPrefix, type SchemaName, withPrefix } from '../schema/schemas.ts'
import type { ConnectionTurns, Turns } from '../turns.ts'
import { catalogueOf } from './catalogue.ts'
import { holdersOn } from './holders.ts'
import { defaultPatience, mergeInTurn } from './merge-lock.ts'
import { awaitOldSnapshots } from './old-snapshots.ts'
import { openSession, type PostgresAddress } from './session.ts'
import { defaultSettings, openBeside, type StatementsParts, statementsOn, turnsOf } from './statements.ts'
import { receiveFiles, sendAsFiles, sendToStage, TransferFiles } from './transfer.ts'

const postgresTraits: EngineTraits = {
  kind: 'postgres',
  product: 'PostgreSQL',
  isShared: true,
  keepsKeys: true,
  reconnects: true,
  instant: 'clock_timestamp()',
  skipLocked: 'for update skip locked',
  /** Over the marts of 50,000 timesheets the PII scan takes 4.4 s of CPU for every text, and 1.8 s for distinct texts. */
  hasSlowPatterns: true,
  /**
   * Computes shared parts of a statement once. Inlined, their joins are reordered by a wrong estimate of one row: 24
   * definitions over 5,000 timesheets took 132 s instead of 2.6 s.
   */
  forFullScan: sql => sql.replaceAll(' as not materialized (', ' as materialized ('),
  /**
   * Compares texts byte by byte, as DuckDB does: both engines agree on the greater of two words, whatever the locale of the
   * database, and no index breaks when the operating system changes its collation.
   */
  columnType: sql => (sql === 'text' ? 'text collate "C"' : sql),
}

export interface PostgresOptions {
  /** Prefix of every schema name. */
  readonly schemaPrefix?: string
  /** Parent of temporary folders, for rows that the stage cannot hold in memory and for transfers. */
  readonly scratch: string
  /** The stage of another warehouse, for a copy between the two; it stays open when this one is closed. */
  readonly stage?: Engine
  /** Seconds that a merge waits for merges of other processes; the default if absent. */
  readonly patience?: number
  /** How days are counted; the default if absent. */
  readonly days?: DayRule
}

function checkedPrefix(prefix: string): string {
  if (prefix === '' || isSchemaPrefix(prefix)) return prefix
  throw new MusterError({
    what: 'schemaPrefix is not a valid prefix for schema names',
    next: 'use lower case letters, digits and _, beginning with a letter other than in pg_, at most 40',
  })
}

interface ServerParts {
  readonly parts: StatementsParts
  readonly main: ConnectionTurns
  readonly files: TransferFiles
  /** The stage of the main connection. */
  readonly stage: Engine
  /** Seconds that a merge waits for its turn. */
  readonly patience: number
  readonly days: DayRule | undefined
}

/** What an engine object runs on: the turns of the session or of one block, and a stage. */
interface PostgresSeat {
  readonly turns: Turns
  readonly stage: Engine
}

function blocksOn(server: ServerParts, { turns, stage }: PostgresSeat) {
  const within = (own: Turns): Engine => engineOn(server, { turns: own, stage })
  return {
    transaction: <Result>(work: EngineWork<Result>): Promise<Result> =>
      turns.transaction(own => work(within(own))),
    // Two merges could add the same inferred members in opposite orders and deadlock.
    merge: <Result>(work: EngineWork<Result>): Promise<Result> =>
      mergeInTurn(
        {
          engine: within(turns),
          transaction: one => turns.transaction(own => one(within(own)), 'long'),
          patience: server.patience,
        },
        work,
      ),
    exclusive: <Result>(work: EngineWork<Result>): Promise<Result> =>
      turns.exclusive(own => work(within(own))),
    staging: <Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> =>
      stage.staging((own, release) => work(engineOn(server, { turns, stage: own }), release)),
    alongside: <Result>(work: (other: Engine | undefined) => Promise<Result>): Promise<Result> =>
      onAnotherSession(server, stage, work),
  }
}

async function onAnotherSession<Result>(
  server: ServerParts,
  stage: Engine,
  work: (other: Engine | undefined) => Promise<Result>,
): Promise<Result> {
  const session = openSession(server.parts.address, defaultSettings)
  const isOpen = await session.client().then(
    () => true,
    () => false,
  )
  if (!isOpen) return work(undefined)
  const parts = { ...server.parts, session, isStageShared: true }
  const turns = turnsOf(parts)
  try {
    return await work(engineOn({ ...server, parts, main: turns }, { turns, stage }))
  } finally {
    await session.close()
  }
}

/**
 * After several joins the server often expects one row and chooses a nested loop over the next table: one mart over 1,000
 * timesheets took 41 s that way. With nested loops off, servers before 18 give a huge cost to joins that need one, and that
 * cost would make them compile the statement; so jit is off too.
 */
const fullScanSettings = 'set local enable_nestloop = off; set local jit = off'

function largeReadsOn(
  { transaction }: Pick<Engine, 'transaction'>,
  { run }: Pick<Engine, 'run'>,
): Pick<Engine, 'rowsByFullScan' | 'planForFullScans' | 'inOneSnapshot'> {
  return {
    async planForFullScans() {
      await run(fullScanSettings)
    },
    rowsByFullScan: <Row extends object>(sql: string) =>
      transaction(async engine => {
        await engine.planForFullScans()
        return engine.rows<Row>(engine.forFullScan(sql))
      }),
    inOneSnapshot: work =>
      transaction(async engine => {
        await engine.run('set transaction isolation level repeatable read read only')
        return work(engine)
      }),
  }
}

/** The server makes every commit durable by itself. */
const lastingOn = (
  engine: Pick<Engine, 'rows' | 'location'>,
  patience: number,
): Pick<Engine, 'makeLasting' | 'freeMemory' | 'awaitOldSnapshots'> => ({
  async makeLasting() {},
  async freeMemory() {},
  awaitOldSnapshots: signal => awaitOldSnapshots(engine, { patience, signal }),
})

/** The owner of a schema, quoted, if it is another role that this user may act as. */
const otherOwner = `select quote_ident(pg_get_userbyid(nspowner)) as owner from pg_catalog.pg_namespace
  where nspname = $1 and pg_get_userbyid(nspowner) <> current_user and pg_has_role(nspowner, 'member')`

async function closeServer({ parts, main, files, stage }: ServerParts): Promise<void> {
  await main.onIdle()
  await parts.session.close()
  if (!parts.isStageShared) await stage.close()
  files.remove()
}

const tablesOf = ({ items }: Transfer): string =>
  items.map(item => ('select' in item ? item.table : '')).join(' ')

function engineOn(server: ServerParts, seat: PostgresSeat): Engine {
  const { parts, files } = server
  const { stage } = seat
  const { inTurn, rows, run } = statementsOn(parts, seat.turns)
  const blocks = blocksOn(server, seat)
  const location = parts.address.shown
  const schema = (name: SchemaName): string => parts.prefix + name
  const ends = {
    stage,
    client: () => parts.session.client(),
    withPrefix: (sql: string) => withPrefix(sql, parts.prefix),
  }
  const send = (name: string, columns: readonly TypedColumn[], select: string): Promise<void> =>
    inTurn(() => sendToStage(ends, files, { name, columns, select }), select)
  return {
    ...postgresTraits,
    ...catalogueOf({ rows, schema, location }),
    ...largeReadsOn(blocks, { run }),
    location,
    days: server.days,
    cacheKey: server,
    schema,
    rows,
    run,
    async actAsOwnerOf(name) {
      const [{ owner } = {}] = await rows<{ owner: string }>(otherOwner, [schema(name)])
      if (owner !== undefined) await run(`set local role ${owner}`)
    },
    ...blocks,
    ...holdersOn(parts.session, { inTurn, rows, run }, schema('ops')),
    stage,
    send: items => sendAsFiles(stage, files, items),
    receive: transfer => inTurn(() => receiveFiles(ends, transfer), tablesOf(transfer)),
    sendToStage: send,
    async rowsInStage(columns, select, work) {
      await send('rows_in_stage', columns, select)
      await work('select * from rows_in_stage')
      await stage.run('drop table rows_in_stage')
    },
    openBeside: () => openBeside(parts),
    ...lastingOn({ rows, location }, server.patience),
    close: () => closeServer(server),
  }
}

/** Connects at once, so that a wrong address fails first. Throws MusterError. */
export async function openPostgres(address: PostgresAddress, options: PostgresOptions): Promise<Engine> {
  const prefix = checkedPrefix(options.schemaPrefix ?? '')
  const session = openSession(address, defaultSettings)
  await session.client()
  const stage = options.stage ?? (await openStage(options.scratch, options.days))
  const parts = { address, session, prefix, isStageShared: options.stage !== undefined }
  const main = turnsOf(parts)
  const files = new TransferFiles(options.scratch)
  const patience = options.patience ?? defaultPatience
  return engineOn({ parts, main, files, stage, patience, days: options.days }, { turns: main, stage })
}
