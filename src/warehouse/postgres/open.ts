/** Opens a PostgreSQL warehouse: one session of this process, beside a DuckDB in memory that reads the pages. */

import { MusterError } from '../../lib/errors.ts'
import { openStage } from '../duckdb/open.ts'
import type { Engine, Traits, Transfer, TypedColumn, Work } from '../engine.ts'
import { isSchemaPrefix, type SchemaName, withPrefix } from '../schema/schemas.ts'
import type { ConnectionTurns, Turns } from '../turns.ts'
import { catalogueOf } from './catalogue.ts'
import { holdersOn } from './holders.ts'
import { mergeInTurn, usualPatience } from './merge-lock.ts'
import { awaitOldSnapshots } from './old-snapshots.ts'
import { type Address, openSession } from './session.ts'
import { openBeside, type Parts, statementsOn, turnsOf, usualSettings } from './statements.ts'
import { receiveFiles, sendAsFiles, sendToStage, TransferFiles } from './transfer.ts'

const postgresTraits: Traits = {
  kind: 'postgres',
  product: 'PostgreSQL',
  isShared: true,
  keepsKeys: true,
  reconnects: true,
  instant: 'clock_timestamp()',
  skipLocked: 'for update skip locked',
  /** Over the marts of 50,000 timesheets the PII scan takes 4.4 s of the processor text by text, and 1.8 s over different ones. */
  hasSlowPatterns: true,
  /**
   * What several parts of a statement read is computed once: inlined, its joins are reordered by the wrong expectation of one
   * row, and 24 definitions over 5,000 timesheets took 132 s instead of 2.6.
   */
  overWholeTables: sql => sql.replaceAll(' as not materialized (', ' as materialized ('),
  /**
   * Texts compare byte by byte, as in DuckDB: both engines agree on the greater of two words, whatever the locale of the
   * database, and no index breaks when the operating system changes its collation.
   */
  columnType: sql => (sql === 'text' ? 'text collate "C"' : sql),
}

export interface PostgresOptions {
  /** Prefix of every schema name. */
  readonly schemaPrefix?: string
  /** Folder of the temporary ones: for rows that the stage cannot hold in memory, and for transfers. */
  readonly scratch: string
  /** The stage of another warehouse, for a copy between the two; it stays open when this one is closed. */
  readonly stage?: Engine
  /** How long a merge waits for those of others, in seconds; as long as usual when absent. */
  readonly patience?: number
  /** IANA name of the zone in which days are counted; the usual one when absent. */
  readonly reportingZone?: string
}

function checkedPrefix(prefix: string): string {
  if (prefix === '' || isSchemaPrefix(prefix)) return prefix
  throw new MusterError({
    what: 'schemaPrefix is no prefix for a schema',
    next: 'use lower case letters, digits and _, beginning with a letter other than in pg_, at most 40',
  })
}

interface Server {
  readonly parts: Parts
  readonly main: ConnectionTurns
  readonly files: TransferFiles
  /** The stage of the main connection. */
  readonly stage: Engine
  /** How long a merge waits for its turn, in seconds. */
  readonly patience: number
  readonly zone: string | undefined
}

/** The place of an engine object: the turns of the whole session or of one block, and a stage. */
interface Seat {
  readonly turns: Turns
  readonly stage: Engine
}

function blocksOn(server: Server, { turns, stage }: Seat) {
  const within = (own: Turns): Engine => engineOn(server, { turns: own, stage })
  return {
    transaction: <Result>(work: Work<Result>): Promise<Result> => turns.transaction(own => work(within(own))),
    // Two merges could add the same inferred members in opposite orders and deadlock.
    merge: <Result>(work: Work<Result>): Promise<Result> =>
      mergeInTurn(
        {
          engine: within(turns),
          transaction: one => turns.transaction(own => one(within(own)), 'long'),
          patience: server.patience,
        },
        work,
      ),
    exclusive: <Result>(work: Work<Result>): Promise<Result> => turns.exclusive(own => work(within(own))),
    staging: <Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> =>
      stage.staging((own, release) => work(engineOn(server, { turns, stage: own }), release)),
    alongside: <Result>(work: (other: Engine | undefined) => Promise<Result>): Promise<Result> =>
      onAnotherSession(server, stage, work),
  }
}

async function onAnotherSession<Result>(
  server: Server,
  stage: Engine,
  work: (other: Engine | undefined) => Promise<Result>,
): Promise<Result> {
  const session = openSession(server.parts.address, usualSettings)
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
 * timesheets took 41 s that way. Without nested loops, servers before 18 put a huge cost on joins that allow no other plan,
 * which alone would make them compile the statement.
 */
const forWholeTables = 'set local enable_nestloop = off; set local jit = off'

function largeReadsOn(
  { transaction }: Pick<Engine, 'transaction'>,
  { run }: Pick<Engine, 'run'>,
): Pick<Engine, 'rowsOfWholeTables' | 'planForWholeTables' | 'atOneMoment'> {
  return {
    async planForWholeTables() {
      await run(forWholeTables)
    },
    rowsOfWholeTables: <Row extends object>(sql: string) =>
      transaction(async engine => {
        await engine.planForWholeTables()
        return engine.rows<Row>(engine.overWholeTables(sql))
      }),
    atOneMoment: work =>
      transaction(async engine => {
        await engine.run('set transaction isolation level repeatable read read only')
        return work(engine)
      }),
  }
}

/** The server does the rest with every commit. */
const lastingOn = (
  engine: Pick<Engine, 'rows' | 'location'>,
  patience: number,
): Pick<Engine, 'makeLasting' | 'freeMemory' | 'awaitOldSnapshots'> => ({
  async makeLasting() {},
  async freeMemory() {},
  awaitOldSnapshots: signal => awaitOldSnapshots(engine, { patience, signal }),
})

/** The owner of a schema, quoted, where it is another role that this user may act as. */
const otherOwner = `select quote_ident(pg_get_userbyid(nspowner)) as owner from pg_catalog.pg_namespace
  where nspname = $1 and pg_get_userbyid(nspowner) <> current_user and pg_has_role(nspowner, 'member')`

async function closeServer({ parts, main, files, stage }: Server): Promise<void> {
  await main.onIdle()
  await parts.session.close()
  if (!parts.isStageShared) await stage.close()
  files.remove()
}

const tablesOf = ({ items }: Transfer): string =>
  items.map(item => ('select' in item ? item.table : '')).join(' ')

function engineOn(server: Server, seat: Seat): Engine {
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
    reportingZone: server.zone,
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

/** Connects at once, so that a wrong address fails before anything else is done. Throws MusterError. */
export async function openPostgres(address: Address, options: PostgresOptions): Promise<Engine> {
  const prefix = checkedPrefix(options.schemaPrefix ?? '')
  const session = openSession(address, usualSettings)
  await session.client()
  const stage = options.stage ?? (await openStage(options.scratch, options.reportingZone))
  const parts = { address, session, prefix, isStageShared: options.stage !== undefined }
  const main = turnsOf(parts)
  const files = new TransferFiles(options.scratch)
  const patience = options.patience ?? usualPatience
  return engineOn(
    { parts, main, files, stage, patience, zone: options.reportingZone },
    { turns: main, stage },
  )
}
