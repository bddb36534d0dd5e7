/** The engine over a DuckDB file: one writing process, whose batches are staged beside each other. */
import { statSync } from 'node:fs'
import type { Engine, Insertion, Value } from '../engine.ts'
import { quoteNames } from '../sql-text.ts'
import type { Haste } from '../turns.ts'
import { connect, create, logBytes, type Opened, type OpenOptions, setUp, tidy } from './connect.ts'
import { createLanes, type Lanes } from './connection-pool.ts'
import { attachLane, attachMemory, forgetFolder } from './stage-database.ts'
import { type Statements, statementsOn } from './statements.ts'

/**
 * One batch is staged while the one before it is merged, each by a thread of its own: two cores are busy, and the memory of
 * DuckDB's buffers is enough for both. With more threads to a lane it is not.
 */
const lanesAtMost = 2

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
 * What DuckDB does by itself when lanes are empty: writes the log into the file when it is long. It refuses while the rows that a
 * commit has replaced may still be read by another lane, whose statement ends soon.
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

function lanesOf({ file, home, folder }: Place, { instance }: Opened): Lanes<Statements> {
  let opened = 0
  return createLanes({
    most: lanesAtMost,
    async open() {
      opened += 1
      const stage = `stage_${opened}`
      const connection = await instance.connect()
      await attachLane(connection, stage, folder)
      await setUp(connection, { home, stage })
      return statementsOn(file, connection)
    },
    async turn({ connection }, isBusy) {
      await connection.run(isBusy ? beforeLoading : afterLoading)
    },
  })
}

/** Statements of the lane that the caller is in, or of the main connection. */
function statementsHere(place: Place, main: Statements, lanes: Lanes<Statements>) {
  const here = () => lanes.current() ?? main
  const rows = <Row extends object>(sql: string, values?: readonly Value[]): Promise<Row[]> =>
    here().rows<Row>(sql, values)
  const run = (sql: string, values?: readonly Value[]): Promise<number> => here().run(sql, values)
  // What is written from a lane takes its turn among all that is written.
  const transaction = <Result>(work: () => Promise<Result>, haste?: Haste): Promise<Result> => {
    const lane = lanes.current()
    if (!lane) return main.transaction(work, haste)
    return main.exclusive(async () => {
      await checkpoint(place, lane)
      return lane.transaction(work)
    }, haste)
  }
  return {
    rows,
    run,
    transaction: <Result>(work: () => Promise<Result>): Promise<Result> => transaction(work),
    // The lock on the file keeps other processes out already.
    merge: <Result>(work: () => Promise<Result>): Promise<Result> => transaction(work, 'long'),
    exclusive: <Result>(work: () => Promise<Result>): Promise<Result> => here().exclusive(work),
    // Inside a transaction of the caller's the batch has to be part of it.
    staging: <Result>(work: (release: () => void) => Promise<Result>): Promise<Result> =>
      main.isInside() ? work(() => undefined) : lanes.enter(work),
  }
}

interface Open extends Opened {
  readonly main: Statements
  readonly lanes: Lanes<Statements>
}

async function close({ instance, connection, main, lanes }: Open, { folder }: Place): Promise<void> {
  const left = await lanes.leave()
  await main.onIdle()
  if ([main, ...left].some(one => one.hasRemoved())) await tidy(connection)
  // The last connection to go writes the log into the file.
  for (const lane of left) lane.connection.closeSync()
  connection.closeSync()
  instance.closeSync()
  if (left.length > 0) forgetFolder(folder)
}

function engineOver(place: Place, opened: Opened): Engine {
  const { file } = place
  const main = statementsOn(file, opened.connection)
  const lanes = lanesOf(place, opened)
  const { rows, run, transaction, merge, exclusive, staging } = statementsHere(place, main, lanes)
  const announced = new Set<string>()
  const insert = ({ table, columns, select }: Insertion): string =>
    `insert into ${table} (${quoteNames(columns)}) ${select}`
  return {
    name: 'duckdb',
    location: file,
    schema: name => name,
    rows,
    run,
    transaction(work) {
      return transaction(() => work(this))
    },
    merge(work) {
      return merge(() => work(this))
    },
    exclusive(work) {
      return exclusive(() => work(this))
    },
    staging(work) {
      return staging(release => work(this, release))
    },
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
    async sendToStage(name, _, select) {
      await run(`create or replace temp table ${name} as ${select}`)
    },
    async announce(name) {
      announced.add(name)
    },
    // Whoever is not in this process has lost the lock on the file.
    isPresent: async name => announced.has(name),
    async evict() {},
    close: () => close({ ...opened, main, lanes }, place),
  }
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
