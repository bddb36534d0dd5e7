/** The engine over a DuckDB file: one writing process, whose batches are staged beside each other. */
import { statSync } from 'node:fs'
import type { Engine, Insertion, Work } from '../engine.ts'
import { quoteNames } from '../sql-text.ts'
import type { Priority, Turns } from '../turns.ts'
import { catalogueOf } from './catalogue.ts'
import { connect, create, logBytes, type Opened, type OpenOptions, setUp, tidy } from './connect.ts'
import { ConnectionPool } from './connection-pool.ts'
import { attachMemory, attachStageFile, forgetFolder } from './stage-database.ts'
import { Connection, type Statements } from './statements.ts'
import { duckdbTraits } from './traits.ts'

/**
 * One batch is staged while the one before it is merged, each by a thread of its own: two cores are busy, and the memory of
 * DuckDB's buffers is enough for both. With more threads to a connection it is not.
 */
const pooledConnections = 2

/**
 * While pages are loaded rows go to the file without the compressions that cost time to try: a batch commits in 69 ms
 * instead of 109, for a file that is a fifth larger. The published copy is written with all of them.
 */
const slowCompressions = 'fsst,dict_fsst,zstd,alp,alprd,chimp,patas,roaring'

/** DuckDB asks one setting when any of its databases is to be written: the warehouse is, by `checkpoint`, and no stage. */
const beforeLoading = `set threads = 1; set disabled_compression_methods = '${slowCompressions}';
  set wal_autocheckpoint = '1TB'`
const afterLoading = `reset threads; reset disabled_compression_methods; set wal_autocheckpoint = '${logBytes}B'`

interface Place {
  readonly file: string
  /** The database that statements mean. */
  readonly home: string
  /** For what has to be on disk meanwhile. */
  readonly folder: string
}

/**
 * Writes the log into the file when it is long, as DuckDB does by itself when no batch is being staged. DuckDB refuses while
 * another connection may still read the rows that a commit has replaced; its statement ends soon.
 */
async function checkpoint({ file, home }: Place, { run }: Statements): Promise<void> {
  const log = statSync(`${file}.wal`, { throwIfNoEntry: false })
  if (!log || log.size < logBytes) return
  try {
    await run(`checkpoint ${home}`)
  } catch (error) {
    if (!String(error).includes('Cannot CHECKPOINT')) throw error
  }
}

function poolOf({ file, home, folder }: Place, { instance }: Opened): ConnectionPool<Connection> {
  let opened = 0
  return new ConnectionPool({
    most: pooledConnections,
    async open() {
      opened += 1
      const stage = `stage_${opened}`
      const duckdb = await instance.connect()
      await attachStageFile(duckdb, stage, folder)
      await setUp(duckdb, { home, stage })
      return new Connection(file, duckdb)
    },
    async setBusy({ duckdb }, isBusy) {
      await duckdb.run(isBusy ? beforeLoading : afterLoading)
    },
  })
}

interface Database {
  readonly place: Place
  readonly opened: Opened
  readonly main: Connection
  readonly pool: ConnectionPool<Connection>
  /** Names of holders in this process. */
  readonly announced: Set<string>
}

async function close({ place, opened, main, pool }: Database): Promise<void> {
  const pooled = await pool.drain()
  await main.turns.onIdle()
  if ([main, ...pooled].some(({ hasRemoved }) => hasRemoved)) await tidy(opened.connection)
  // The last connection to close writes the log into the file.
  for (const { duckdb } of [...pooled, main]) duckdb.closeSync()
  opened.instance.closeSync()
  if (pooled.length > 0) forgetFolder(place.folder)
}

const insert = ({ table, columns, select }: Insertion): string =>
  `insert into ${table} (${quoteNames(columns)}) ${select}`

/** Where the statements of an engine run: a connection, and the turns of all its users or of one block. */
interface Seat {
  readonly connection: Connection
  readonly turns: Turns
}

function blocksOn(database: Database, seat: Seat) {
  const { place, main, pool } = database
  const { connection, turns } = seat
  const within = (own: Turns): Engine => engineOn(database, { connection, turns: own })
  const transaction = <Result>(work: Work<Result>, priority?: Priority): Promise<Result> => {
    const here = (): Promise<Result> => turns.transaction(own => work(within(own)), priority)
    if (connection === main || turns !== connection.turns) return here()
    // A transaction of a pooled connection takes its turn among all that write.
    return main.turns.exclusive(async () => {
      await checkpoint(place, connection.statementsOn(turns))
      return here()
    }, priority)
  }
  return {
    transaction: <Result>(work: Work<Result>): Promise<Result> => transaction(work),
    // The lock on the file keeps other processes out already.
    merge: <Result>(work: Work<Result>): Promise<Result> => transaction(work, 'long'),
    exclusive: <Result>(work: Work<Result>): Promise<Result> => turns.exclusive(own => work(within(own))),
    // Within a block the batch has to be part of it.
    staging: <Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> =>
      turns === main.turns
        ? pool.use((free, release) =>
            work(engineOn(database, { connection: free, turns: free.turns }), release),
          )
        : work(engineOn(database, seat), () => undefined),
  }
}

function engineOn(database: Database, seat: Seat): Engine {
  const { place, announced } = database
  const { rows, run } = seat.connection.statementsOn(seat.turns)
  return {
    ...duckdbTraits,
    ...catalogueOf({ rows, run }),
    location: place.file,
    cacheKey: database,
    schema: name => name,
    rows,
    run,
    ...blocksOn(database, seat),
    get stage() {
      return this
    },
    // Stage and warehouse are one connection: a temporary table of one is a table of the other.
    send: items => ({ items, files: [], sent: Promise.resolve(), discard() {} }),
    async receive({ items }) {
      for (const item of items) {
        if ('select' in item) await run(insert(item))
        else if (item.make) await run(item.make)
      }
    },
    rowsOfWholeTables: rows,
    async planForWholeTables() {},
    // No other process writes the file while it is open.
    atOneMoment: work => work(engineOn(database, seat)),
    rowsInStage: (_, select, work) => work(select),
    async sendToStage(name, _, select) {
      await run(`create or replace temp table ${name} as ${select}`)
    },
    async announce(name) {
      announced.add(name)
    },
    // A holder in another process has lost the lock on the file.
    isPresent: async name => announced.has(name),
    async evict() {},
    close: () => close(database),
  }
}

function engineOver(place: Place, opened: Opened): Engine {
  const main = new Connection(place.file, opened.connection)
  const pool = poolOf(place, opened)
  return engineOn(
    { place, opened, main, pool, announced: new Set() },
    { connection: main, turns: main.turns },
  )
}

export async function openDuckdb(file: string, options: OpenOptions = {}): Promise<Engine> {
  return engineOver({ file, home: 'warehouse', folder: `${file}.tmp` }, await connect(file, options))
}

/** Without a file there is more room for pages: 340 MB of memory in all at the peak of 100,000 timesheets. */
const stageMemory = '400MB'

/** A DuckDB without a file, which reads pages for a warehouse elsewhere; what does not fit into memory goes to the folder. */
export async function openStage(temporaryFolder: string): Promise<Engine> {
  const opened = await create(temporaryFolder, stageMemory)
  await attachMemory(opened.connection, 'stage_0')
  await setUp(opened.connection, { home: 'memory', stage: 'stage_0' })
  return engineOver({ file: temporaryFolder, home: 'memory', folder: temporaryFolder }, opened)
}
