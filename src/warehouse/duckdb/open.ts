/** The engine over a DuckDB file: one process writes, and stages several batches at once. */

import type { Engine, Insertion, Traits, Work } from '../engine.ts'
import { quoteNames } from '../sql-text.ts'
import type { Priority, Turns } from '../turns.ts'
import { type Attachment, attachAnew, attachmentOf, batchesBetween } from './attach-anew.ts'
import { catalogueOf } from './catalogue.ts'
import { connect, create, type Opened, type OpenOptions, setUp } from './connect.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { copyWhole } from './copy-whole.ts'
import { replacedMeanwhile } from './failure.ts'
import { freeMemory, intoFile, longLogIntoFile, type Place } from './into-file.ts'
import { poolOf } from './loading-pool.ts'
import { attachMemory } from './stage-database.ts'
import { Connection, type SharedByConnections } from './statements.ts'

const duckdbTraits: Traits = {
  kind: 'duckdb',
  product: 'DuckDB',
  isShared: false,
  // Keys cost several times the load.
  keepsKeys: false,
  hasSlowPatterns: false,
  reconnects: false,
  // Only one process writes, and its transactions are short: the time at which they began will do.
  instant: 'now()',
  skipLocked: '',
  overWholeTables: sql => sql,
  columnType: sql => sql,
}

interface Database {
  readonly place: Place
  readonly opened: Opened
  readonly shared: SharedByConnections
  readonly main: Connection
  readonly pool: ConnectionPool<Connection>
  /** Names of holders in this process. */
  readonly announced: Set<string>
  /** Of a file; absent in memory. */
  readonly attachment: Attachment | undefined
  /** Batches that were staged since the file was attached. */
  staged: number
}

/**
 * The whole of the file's memory is given back between two batches. Nobody reads or writes then: batches that are under way
 * are committed before, and what comes waits.
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
        await attachAnew(attachment)
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
    // Whoever still asked while the log was written: to close a connection under a statement crashes the process.
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

/** The place of an engine object: a connection, and the turns of all its users or of one block. */
interface Seat {
  readonly connection: Connection
  readonly turns: Turns
}

function blocksOn(database: Database, seat: Seat) {
  const { place, main, pool } = database
  const { connection, turns } = seat
  const within = (own: Turns): Engine => engineOn(database, { connection, turns: own })
  const transaction = <Result>(work: Work<Result>, priority?: Priority): Promise<Result> => {
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
    transaction: <Result>(work: Work<Result>): Promise<Result> => transaction(work),
    // The lock on the file keeps other processes out already.
    merge: <Result>(work: Work<Result>): Promise<Result> => transaction(work, 'long'),
    exclusive: <Result>(work: Work<Result>): Promise<Result> => turns.exclusive(own => work(within(own))),
    // Inside a block the batch has to be part of that block.
    async staging<Result>(work: (engine: Engine, release: () => void) => Promise<Result>): Promise<Result> {
      if (turns !== main.turns) return work(engineOn(database, seat), () => undefined)
      database.staged += 1
      // Not awaited here: this batch would queue behind later ones, which wait for it.
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

function engineOn(database: Database, seat: Seat): Engine {
  const { place, main, announced } = database
  const { rows, run } = seat.connection.statementsOn(seat.turns)
  return {
    ...duckdbTraits,
    ...catalogueOf({ rows, run }),
    location: place.file,
    reportingZone: place.zone,
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
    async actAsOwnerOf() {},
    // No other process writes the file while it is open.
    atOneMoment: work => work(engineOn(database, seat)),
    rowsInStage: (_, select, work) => work(select),
    async sendToStage(name, _, select) {
      await run(`create or replace temp table ${name} as ${select}`)
    },
    copyWhole: file => copyWhole({ rows, run }, place.home, file),
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
    async freeMemory(most) {
      if (database.shared.ranOut) await giveBackMemory(database)
      await freeMemory(place, main.statementsOn(main.turns), most)
    },
    close: () => close(database),
  }
}

function engineOver(place: Place, opened: Opened, attachment?: Attachment): Engine {
  const shared: SharedByConnections = { kept: new Set() }
  const main = new Connection(place.file, opened.connection, shared)
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
    zone: options.reportingZone,
    threads,
  }
  return engineOver(place, opened, attachmentOf(opened, place))
}

/** Without a warehouse file there is more memory for pages: the process peaks at 340 MB over 100,000 timesheets. */
const stageMemory = '400MB'

/** A DuckDB in memory that stages pages for a warehouse elsewhere; it spills into a temporary folder in `folder`. */
export async function openStage(folder: string, zone?: string): Promise<Engine> {
  const opened = await create(folder, { memoryLimit: stageMemory })
  await attachMemory(opened.connection, 'stage_0')
  await setUp(opened.connection, { home: 'memory', stage: 'stage_0', zone })
  const { temporary, threads } = opened
  const isNever = (): boolean => false
  const place = {
    file: temporary.path,
    isDraft: false,
    log: '',
    isWritten: isNever,
    isReplaced: isNever,
    home: 'memory',
    zone,
    threads,
  }
  return engineOver(place, opened)
}
