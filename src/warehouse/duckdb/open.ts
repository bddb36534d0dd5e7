/** Implements the engine over a DuckDB file: one process writes, and stages several batches at once. */
import type { DayRule } from '../../lib/day-rule.ts'
import type { Engine, EngineTraits, EngineWork, Insertion } from '../engine.ts'
import { quoteNames, quoteText } from '../sql-text.ts'
import type { Priority, Turns } from '../turns.ts'
import { catalogueOf } from './catalogue.ts'
import { connect, create, logBytes, type OpenedInstance, type OpenOptions, setUp } from './connect.ts'
import { ConnectionPool } from './connection-pool.ts'
import { replacedMeanwhile } from './failure.ts'
import { type DatabaseFile, freeMemory, intoFile, longLogIntoFile, slowCompressions } from './into-file.ts'
import { type Attachment, attachmentOf, batchesBetween, reattach } from './reattach.ts'
import { attachMemory, attachStageFile } from './stage-database.ts'
import { DuckdbSession, type InstanceState } from './statements.ts'

/**
 * Stages one batch while the previous one is merged, each on its own thread: this keeps two cores busy, and DuckDB's memory
 * is enough for both. With more threads per connection it is not.
 */
const pooledConnections = 2

/** Raises the log limit of all attached databases, so that only `checkpoint` writes the warehouse's log into the file. */
const beforeLoading = `set threads = 1; set disabled_compression_methods = '${slowCompressions}';
  set wal_autocheckpoint = '1TB'`
const afterLoading = (threads: number): string =>
  `set threads = ${threads}; reset disabled_compression_methods; set wal_autocheckpoint = '${logBytes}B'`

/** Connections on which batches of pages are staged while others are merged. */
function poolOf(
  { file, home, days }: DatabaseFile,
  opened: OpenedInstance,
  shared: InstanceState,
): ConnectionPool<DuckdbSession> {
  let count = 0
  return new ConnectionPool({
    max: pooledConnections,
    async open() {
      count += 1
      const stage = `stage_${count}`
      const duckdb = await opened.instance.connect()
      await attachStageFile(duckdb, stage, opened.temporary.path)
      await setUp(duckdb, { home, stage, days })
      return new DuckdbSession(file, duckdb, shared)
    },
    async setBusy(connection, isBusy) {
      await connection.set(isBusy ? beforeLoading : afterLoading(opened.threads))
    },
  })
}

/** True without any table or created schema; a table in the default schema counts too. */
const isEmpty = `select not exists (select 1 from duckdb_tables() where database_name = current_database())
    and not exists (select 1 from duckdb_views() where database_name = current_database() and not internal)
    and not exists (select 1 from duckdb_schemas() where database_name = current_database() and not internal) as empty`

/**
 * Copies a database file into an empty warehouse, at a ninth of the cost of running its statements one by one. `home` is the
 * database of the warehouse. A kill leaves everything, or tables without rows.
 */
async function copyDatabase(
  engine: Pick<Engine, 'rows' | 'run'>,
  home: string,
  file: string,
): Promise<boolean> {
  const [row] = await engine.rows<{ empty: boolean }>(isEmpty)
  if (!row?.empty) return false
  try {
    await engine.run(`attach ${quoteText(file)} as copied (read_only)`)
  } catch {
    // The file is damaged or not readable: it is only a shortcut, and the statements have the same result.
    return false
  }
  try {
    await engine.run(`copy from database copied to ${home}`)
  } finally {
    await engine.run('detach copied')
  }
  return true
}

const duckdbTraits: EngineTraits = {
  kind: 'duckdb',
  product: 'DuckDB',
  isShared: false,
  // Keys would multiply the cost of a load.
  keepsKeys: false,
  hasSlowPatterns: false,
  reconnects: false,
  // Only one process writes, in short transactions, so their start time is good enough.
  instant: 'now()',
  skipLocked: '',
  forFullScan: sql => sql,
  columnType: sql => sql,
}

interface Database {
  readonly place: DatabaseFile
  readonly opened: OpenedInstance
  readonly shared: InstanceState
  readonly main: DuckdbSession
  readonly pool: ConnectionPool<DuckdbSession>
  /** Names of holders in this process. */
  readonly announced: Set<string>
  /** Undefined for a database in memory. */
  readonly attachment: Attachment | undefined
  /** Batches that were staged since the file was attached. */
  staged: number
}

/**
 * Releases all memory of the file between two batches. Nothing reads or writes at that time: open batches are committed
 * first, and new work waits.
 */
async function giveBackMemory(database: Database): Promise<void> {
  const { place, shared, main, pool, attachment } = database
  database.staged = 0
  shared.ranOut = false
  if (!attachment) return
  await pool.alone(async () => {
    await intoFile(place, main.statementsOn(main.turns))
    await main.turns.exclusive(async () => {
      if (!place.isWritten()) return
      main.forgetPlans()
      try {
        await reattach(attachment)
      } catch (error) {
        shared.lost = error
        throw error
      }
    })
  })
}

async function close(database: Database): Promise<void> {
  const { place, opened, shared, main, pool } = database
  const pooled = await pool.drain()
  await main.turns.onIdle()
  try {
    if (!shared.lost) await intoFile(place, main.statementsOn(main.turns))
  } finally {
    // Wait for statements that started while the log was written: closing their connection would crash the process.
    await Promise.all([main, ...pooled].map(({ turns }) => turns.onIdle()))
    for (const connection of [...pooled, main]) connection.close()
    opened.instance.closeSync()
    opened.temporary.remove()
  }
}

function requireInPlace({ place, shared }: Database): void {
  if (!place.isReplaced()) return
  shared.lost = replacedMeanwhile(place.file)
  throw shared.lost
}

const insert = ({ table, columns, select }: Insertion): string =>
  `insert into ${table} (${quoteNames(columns)}) ${select}`

/** What an engine object runs on: a connection, and the turns of all its users or of one block. */
interface DuckdbSeat {
  readonly connection: DuckdbSession
  readonly turns: Turns
}

function blocksOn(database: Database, seat: DuckdbSeat) {
  const { place, main, pool } = database
  const { connection, turns } = seat
  const within = (own: Turns): Engine => engineOn(database, { connection, turns: own })
  const transaction = <Result>(work: EngineWork<Result>, priority?: Priority): Promise<Result> => {
    const here = (): Promise<Result> =>
      turns.transaction(async own => {
        const result = await work(within(own))
        requireInPlace(database)
        return result
      }, priority)
    if (connection === main || turns !== connection.turns) return here()
    // Transactions of pooled connections take turns with all others that write.
    return main.turns.exclusive(async () => {
      await longLogIntoFile(place, connection.statementsOn(turns))
      return here()
    }, priority)
  }
  return {
    transaction: <Result>(work: EngineWork<Result>): Promise<Result> => transaction(work),
    // The lock on the file keeps other processes out already.
    merge: <Result>(work: EngineWork<Result>): Promise<Result> => transaction(work, 'long'),
    exclusive: <Result>(work: EngineWork<Result>): Promise<Result> =>
      turns.exclusive(own => work(within(own))),
    // Inside a block the batch must belong to that block.
    async staging<Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> {
      if (turns !== main.turns) return work(engineOn(database, seat), () => undefined)
      database.staged += 1
      // Not awaited: this batch would queue behind later ones, which wait for it.
      const isDue = database.staged > batchesBetween || database.shared.ranOut
      const given = isDue ? Promise.allSettled([giveBackMemory(database)]) : []
      return pool.use(async (free, release) => {
        const [result] = await given
        if (result?.status === 'rejected') throw result.reason
        return work(engineOn(database, { connection: free, turns: free.turns }), release)
      })
    },
  }
}

function engineOn(database: Database, seat: DuckdbSeat): Engine {
  const { place, main, announced } = database
  const { rows, run } = seat.connection.statementsOn(seat.turns)
  return {
    ...duckdbTraits,
    ...catalogueOf({ rows, run }),
    location: place.file,
    days: place.days,
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
    rowsByFullScan: rows,
    async planForFullScans() {},
    async actAsOwnerOf() {},
    // No other process writes the file while it is open.
    inOneSnapshot: work => work(engineOn(database, seat)),
    rowsInStage: (_, select, work) => work(select),
    async sendToStage(name, _, select) {
      await run(`create or replace temp table ${name} as ${select}`)
    },
    copyDatabase: file => copyDatabase({ rows, run }, place.home, file),
    async announce(name) {
      announced.add(name)
    },
    // Another process cannot hold the file while this one does.
    isPresent: async name => announced.has(name),
    async evict() {},
    async makeLasting({ reclaims } = {}) {
      requireInPlace(database)
      await intoFile(place, main.statementsOn(main.turns), { reclaims })
    },
    // Another process cannot read the file while this one writes it.
    async awaitOldSnapshots() {},
    async freeMemory(max) {
      if (database.shared.ranOut) await giveBackMemory(database)
      await freeMemory(place, main.statementsOn(main.turns), max)
    },
    close: () => close(database),
  }
}

function engineOver(place: DatabaseFile, opened: OpenedInstance, attachment?: Attachment): Engine {
  const shared: InstanceState = { statements: new Set() }
  const main = new DuckdbSession(place.file, opened.connection, shared)
  const pool = poolOf(place, opened, shared)
  return engineOn(
    { place, opened, shared, main, pool, announced: new Set(), attachment, staged: 0 },
    { connection: main, turns: main.turns },
  )
}

export async function openDuckdb(file: string, options: OpenOptions = {}): Promise<Engine> {
  const opened = await connect(file, options)
  const { isWritten, isReplaced, file: path } = opened
  const { threads } = opened
  const place = {
    file,
    isDraft: options.isDraft ?? false,
    log: `${path}.wal`,
    isWritten,
    isReplaced,
    home: 'warehouse',
    days: options.days,
    threads,
  }
  return engineOver(place, opened, attachmentOf(opened, place))
}

/** Pages get more memory, as there is no warehouse file: the process peaks at 340 MB over 100,000 timesheets. */
const stageMemory = '400MB'

/** A DuckDB in memory that stages pages for a warehouse elsewhere; it spills into a temporary folder in `folder`. */
export async function openStage(folder: string, days?: DayRule): Promise<Engine> {
  const opened = await create(folder, { memoryLimit: stageMemory })
  await attachMemory(opened.connection, 'stage_0')
  await setUp(opened.connection, { home: 'memory', stage: 'stage_0', days })
  const { temporary, threads } = opened
  const isNever = (): boolean => false
  const place = {
    file: temporary.path,
    isDraft: false,
    log: '',
    isWritten: isNever,
    isReplaced: isNever,
    home: 'memory',
    days,
    threads,
  }
  return engineOver(place, opened)
}
