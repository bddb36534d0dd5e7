/** Runs seeds one after the other in this process, with Muster's modules as the options want them. */
import { accessSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Counts } from './counts.ts'
import type { OnlyKill, Options } from './options.ts'
import type { Outcome } from './outcome.ts'
import { planted } from './planted.ts'

/** Rows a page: lists of tens of records have many pages then. */
const rowsPerPage = 7

function replaced({ plant }: Options) {
  const fault = plant === undefined ? undefined : planted[plant]
  if (plant !== undefined && !fault)
    throw new Error(`there is no ${plant}: plant one of ${Object.keys(planted).join('; ')}`)
  const put = [
    ['src/api/client/paging.ts', 'pageLimit = 200', `pageLimit=${rowsPerPage}`],
    ['src/sync/scan/backfill.ts', 'first(task, 20,', `first(task,${rowsPerPage},`],
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
  readonly isStopped: () => boolean
}

/** Those of this part, in order. */
function* seedsOf({ first, last, part: [part, parts] = [0, 1] }: Options): Generator<number> {
  for (let seed = first + part; seed <= last; seed += parts) yield seed
}

export async function runSeeds(options: Options, { show, isStopped }: Effects): Promise<Outcome> {
  replaceSource(options)
  const { takePorts } = await import('./ports.ts')
  const { runSeed } = await import('./seed.ts')
  const { duckdbDisks, postgresDisks } = await import('./warehouses.ts')
  const root = mkdtempSync(join(parent(), 'muster-simulate-'))
  takePorts(root)
  const { engine, endsAtFirst, minutes, isVerbose } = options
  const disks = await { duckdb: duckdbDisks, postgres: postgresDisks }[engine](root)
  const counts = new Counts()
  const broken: number[] = []
  const isAlone = options.first === options.last
  const tell = isAlone ? show : () => undefined
  const started = performance.now()
  const isOver = (): boolean =>
    isStopped() || (endsAtFirst && broken.length > 0) || performance.now() - started > minutes * 60_000
  let ran = 0
  const run = async (seed: number, onlyKill = options.kill): Promise<readonly number[]> => {
    try {
      return await runSeed({ seed, engine, disks, counts, tell, isVerbose, narrowed: options, onlyKill })
    } catch (error) {
      if (!broken.includes(seed)) broken.push(seed)
      const isOurs = error instanceof Error && error.name === 'Broken'
      const said = isOurs ? error.message : `seed ${seed}: ${error instanceof Error ? error.stack : error}`
      show(
        onlyKill?.kill
          ? `${said} (--kill ${onlyKill.night}:${onlyKill.kill.step}:${onlyKill.kill.phase})`
          : said,
      )
      return []
    }
  }
  for (const seed of seedsOf(options)) {
    if (isOver()) break
    ran += 1
    const lasting = await run(seed, options.everyKill ? { night: 2 } : options.kill)
    for (const kill of options.everyKill ? everyKill(lasting) : []) if (!isOver()) await run(seed, kill)
  }
  const { user, system } = process.cpuUsage()
  await disks.close()
  rmSync(root, { recursive: true, force: true })
  return { ran, broken, counts: counts.list(), busy: (user + system) / 1e6 }
}
