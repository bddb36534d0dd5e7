/** Runs seeds one after the other in this process, with Muster's modules as the options want them. */
import { accessSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Counts } from './counts.ts'
import type { OnlyKill, Options } from './options.ts'
import type { Outcome } from './outcome.ts'
import { planted, widePlanted } from './planted.ts'
import type { SeedParts } from './setting.ts'

/** Rows a page: lists of tens of records have many pages then. */
const rowsPerPage = 7

function replaced({ plant }: Options) {
  const all = { ...planted, ...widePlanted }
  const fault = plant === undefined ? undefined : all[plant]
  if (plant !== undefined && !fault)
    throw new Error(`there is no ${plant}: plant one of ${Object.keys(all).join('; ')}`)
  const put = [
    ['src/api/client/paging.ts', 'pageLimit = 200', `pageLimit=${rowsPerPage}`],
    ['src/api/client/envelope.ts', 'fewRows = 20', 'fewRows=3'],
    // Real time, for commands that take it from nowhere else; 6e4 is how the loader writes 60_000.
    ['src/api/client/wire.ts', 'headersTimeout: 6e4', 'headersTimeout:3e3'],
    ['src/crosscheck/metrics/their-metrics.ts', 'rowsPerPage = 200', `rowsPerPage=${rowsPerPage}`],
  ] as const
  return [...put.map(([file, find, text]) => ({ file, find, put: text })), ...(fault ? [fault] : [])]
}

/** Before any module of src is loaded. */
function replaceSource(options: Options): void {
  const data = replaced(options)
  // A file that was moved would be loaded as it is.
  for (const { file } of data) accessSync(new URL(`../../${file}`, import.meta.url))
  register('./replaced-source.mjs', { parentURL: import.meta.url, data })
}

/** In memory where there is such a folder: nothing of a seed has to survive a crash of the machine. */
const parent = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

/** Before and after each step of the nights that left something behind. */
function* everyKill(lasting: readonly number[]): Generator<OnlyKill> {
  for (const [index, steps] of lasting.entries())
    for (let step = 1; step <= steps; step += 1)
      for (const phase of ['before', 'after'] as const)
        yield { night: index + 1, kill: { kind: 'lasting', step, phase } }
}

export interface Effects {
  /** A line for the user. */
  readonly show: (line: string) => void
  /** Called when a seed begins on an engine, and when it is run again with another kill. */
  readonly begin: (seed: number) => void
  readonly isStopped: () => boolean
}

type Bench = Pick<SeedParts, 'engine' | 'disks'>

async function benchesOf({ engines }: Options, root: string): Promise<Bench[]> {
  const { duckdbDisks, postgresDisks } = await import('./warehouses.ts')
  const disksOf = { duckdb: duckdbDisks, postgres: postgresDisks }
  const benches: Bench[] = []
  for (const engine of engines) benches.push({ engine, disks: await disksOf[engine](root) })
  return benches
}

const replayed = ({ night, kill }: OnlyKill): string =>
  kill ? ` (--kill ${night}:${kill.step}:${kill.phase})` : ''

/** The seeds that broke a law so far, and what each run of one adds. */
class Runs {
  readonly counts = new Counts()
  readonly broken = new Set<number>()
  readonly #options: Options
  readonly #effects: Effects
  readonly #runSeed: (parts: SeedParts) => Promise<readonly number[]>

  constructor(options: Options, effects: Effects, runSeed: (parts: SeedParts) => Promise<readonly number[]>) {
    this.#options = options
    this.#effects = effects
    this.#runSeed = runSeed
  }

  async run(seed: number, bench: Bench, onlyKill: OnlyKill | undefined): Promise<readonly number[]> {
    const { seeds, isVerbose, isWorker } = this.#options
    const tell = seeds.length === 1 && !isWorker ? this.#effects.show : () => undefined
    const { counts } = this
    this.#effects.begin(seed)
    try {
      return await this.#runSeed({
        ...bench,
        seed,
        counts,
        tell,
        isVerbose,
        narrowed: this.#options,
        onlyKill,
      })
    } catch (error) {
      this.broken.add(seed)
      const isOurs = error instanceof Error && error.name === 'Broken'
      const said = isOurs ? error.message : `seed ${seed}: ${error instanceof Error ? error.stack : error}`
      this.#effects.show(`${bench.engine}, ${said}${onlyKill ? replayed(onlyKill) : ''}`)
      return []
    }
  }
}

export async function runSeeds(options: Options, effects: Effects): Promise<Outcome> {
  replaceSource(options)
  const { takePorts } = await import('./ports.ts')
  const { runSeed } = await import('./seed.ts')
  const root = mkdtempSync(join(parent(), 'muster-simulate-'))
  process.on('exit', () => rmSync(root, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  takePorts(root)
  const benches = await benchesOf(options, root)
  const { endsAtFirst, minutes, everyKill: isEvery } = options
  const runs = new Runs(options, effects, runSeed)
  const until = performance.now() + minutes * 60_000
  const isOver = (): boolean =>
    effects.isStopped() || (endsAtFirst && runs.broken.size > 0) || performance.now() > until
  let ran = 0
  for (const seed of options.seeds) {
    if (isOver()) break
    ran += 1
    for (const bench of benches) {
      const lasting = await runs.run(seed, bench, isEvery ? { night: 2 } : options.kill)
      for (const kill of isEvery ? everyKill(lasting) : []) if (!isOver()) await runs.run(seed, bench, kill)
    }
  }
  const { user, system } = process.cpuUsage()
  for (const { disks } of benches) await disks.close()
  return { ran, broken: [...runs.broken], counts: runs.counts.list(), busy: (user + system) / 1e6 }
}
