/** Runs seeds one after the other in this process, after replacing some of Muster's source as the options say. */
import { accessSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Counts } from './counts.ts'
import type { OnlyKill, Options } from './options.ts'
import type { Outcome } from './outcome.ts'
import { plantedFaults, widePlantedFaults } from './planted.ts'
import type { SeedParts } from './setting.ts'

/** Rows on a page: few, so that short lists have several pages. */
const rowsPerPage = 7

function replacements({ plant }: Options) {
  const all = { ...plantedFaults, ...widePlantedFaults }
  const fault = plant === undefined ? undefined : all[plant]
  if (plant !== undefined && !fault)
    throw new Error(`--plant ${plant} is unknown: use one of ${Object.keys(all).join('; ')}`)
  const settings = [
    ['src/api/client/paging.ts', 'pageLimit = 200', `pageLimit=${rowsPerPage}`],
    ['src/api/client/envelope.ts', 'fewRows = 20', 'fewRows=3'],
    // Real time, for commands that have no setting for it. The loader has already rewritten 60_000 as 6e4.
    ['src/api/client/wire.ts', 'headersTimeout: 6e4', 'headersTimeout:3e3'],
    ['src/crosscheck/metrics/their-metrics.ts', 'rowsPerPage = 200', `rowsPerPage=${rowsPerPage}`],
  ] as const
  return [...settings.map(([file, find, text]) => ({ file, find, put: text })), ...(fault ? [fault] : [])]
}

/** Call before any module of src is loaded. */
function replaceSource(options: Options): void {
  const data = replacements(options)
  // Fail if a file was moved: it would be loaded unchanged.
  for (const { file } of data) accessSync(new URL(`../../${file}`, import.meta.url))
  register('./replaced-source.mjs', { parentURL: import.meta.url, data })
}

/** In memory if possible: a seed's files need not survive a crash of the machine. */
const temporaryRoot = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

/** Kills before and after each durable step of each day. */
function* everyKill(durable: readonly number[]): Generator<OnlyKill> {
  for (const [index, steps] of durable.entries())
    for (let step = 1; step <= steps; step += 1)
      for (const phase of ['before', 'after'] as const)
        yield { day: index + 1, kill: { kind: 'durable', step, phase } }
}

export interface Effects {
  /** Prints a line. */
  readonly show: (line: string) => void
  /** Called when a seed starts on an engine, and when it is repeated with another kill. */
  readonly begin: (seed: number) => void
  readonly isStopped: () => boolean
}

type EngineDisks = Pick<SeedParts, 'engine' | 'disks'>

async function openDisks({ engines }: Options, root: string): Promise<EngineDisks[]> {
  const { duckdbDisks, postgresDisks } = await import('./warehouses.ts')
  const disksOf = { duckdb: duckdbDisks, postgres: postgresDisks }
  const allDisks: EngineDisks[] = []
  for (const engine of engines) allDisks.push({ engine, disks: await disksOf[engine](root) })
  return allDisks
}

const killOption = ({ day, kill }: OnlyKill): string =>
  kill ? ` (--kill ${day}:${kill.step}:${kill.phase})` : ''

/** Runs seeds, and collects counters and the seeds that broke a law. */
class SeedRuns {
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

  async run(
    seed: number,
    engineDisks: EngineDisks,
    onlyKill: OnlyKill | undefined,
  ): Promise<readonly number[]> {
    const { seeds, isVerbose, isWorker } = this.#options
    const log = seeds.length === 1 && !isWorker ? this.#effects.show : () => undefined
    const { counts } = this
    this.#effects.begin(seed)
    try {
      return await this.#runSeed({
        ...engineDisks,
        seed,
        counts,
        log,
        isVerbose,
        restrictions: this.#options,
        onlyKill,
      })
    } catch (error) {
      this.broken.add(seed)
      const isBrokenLaw = error instanceof Error && error.name === 'BrokenLaw'
      const text = isBrokenLaw
        ? error.message
        : `seed ${seed}: ${error instanceof Error ? error.stack : error}`
      this.#effects.show(`${engineDisks.engine}, ${text}${onlyKill ? killOption(onlyKill) : ''}`)
      return []
    }
  }
}

export async function runSeeds(options: Options, effects: Effects): Promise<Outcome> {
  replaceSource(options)
  const { patchPorts } = await import('./ports.ts')
  const { runSeed } = await import('./seed.ts')
  const root = mkdtempSync(join(temporaryRoot(), 'muster-simulate-'))
  process.on('exit', () => rmSync(root, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  patchPorts(root)
  const allDisks = await openDisks(options, root)
  const { endsAtFirst, minutes, everyKill: isEvery } = options
  const runs = new SeedRuns(options, effects, runSeed)
  const until = performance.now() + minutes * 60_000
  const isOver = (): boolean =>
    effects.isStopped() || (endsAtFirst && runs.broken.size > 0) || performance.now() > until
  let ran = 0
  for (const seed of options.seeds) {
    if (isOver()) break
    ran += 1
    for (const engineDisks of allDisks) {
      const durable = await runs.run(seed, engineDisks, isEvery ? { day: 2 } : options.kill)
      for (const kill of isEvery ? everyKill(durable) : [])
        if (!isOver()) await runs.run(seed, engineDisks, kill)
    }
  }
  const { user, system } = process.cpuUsage()
  for (const { disks } of allDisks) await disks.close()
  return { ran, broken: [...runs.broken], counts: runs.counts.list(), busy: (user + system) / 1e6 }
}
