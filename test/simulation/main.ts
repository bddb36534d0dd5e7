/**
 * `npm run simulate -- --seeds A-B` runs random days of commands in simulated time, and checks the laws. Options:
 * - `--workers N`: processes, by default one a core
 * - `--engine duckdb|postgres|both`
 * - `--wide`: all tables, more lists and records by id, and other commands
 * - `--small`: one list, and two days at most
 * - `--without ties,kills`: leaves out changes, faults, quirks and options
 * - `--verbose`: prints every step, if there is only one seed; a single seed always prints its days
 * - `--plant NAME`: puts a fault into Muster
 * - `--first`: stops at the first seed that breaks a law
 * - `--minutes N`: starts no seed after N minutes
 * - `--every-kill`: repeats each seed with a kill before and after every write of its first two days
 * - `--kill 1:37:after`: runs one of these kills
 * - `--clock-shift -2h,0,2d`: sets the machine's clock wrong
 * - `--sometimes`: fails if something that must happen in a thousand seeds never happened
 */
import { readOptions } from './options.ts'
import { type Outcome, summaryLines, toCounts } from './outcome.ts'
import { runSeeds } from './seeds.ts'
import { runInWorkers, type WorkerMessage } from './workers.ts'

const args = process.argv.slice(2)
const options = readOptions(args)

async function runAsWorker(): Promise<void> {
  let isStopped = false
  const stop = (): void => {
    isStopped = true
  }
  process.on('message', stop).on('disconnect', stop)
  const send = (message: WorkerMessage): void => void process.send?.(message)
  const begin = (startedSeed: number): void => send({ startedSeed })
  const outcome = await runSeeds(options, { show: line => send({ line }), begin, isStopped: () => isStopped })
  // Anything that a seed left open must not keep the process alive.
  process.send?.({ outcome } satisfies WorkerMessage, () => process.exit())
}

async function neverHappened(outcome: Outcome): Promise<string[]> {
  if (!options.mustHappen) return []
  // Imported late: it loads modules of src, which are replaced first.
  const sometimes = await import('./sometimes.ts')
  return sometimes.neverHappened(toCounts(outcome))
}

async function runAsMain(): Promise<void> {
  const started = performance.now()
  const isAlone = options.seeds.length === 1
  const here = { show: (line: string) => console.log(line), begin: () => undefined, isStopped: () => false }
  const outcome = await (isAlone ? runSeeds(options, here) : runInWorkers(options, args))
  const seconds = (performance.now() - started) / 1000
  const never = await neverHappened(outcome)
  if (never.length > 0) console.log(`never happened: ${never.join(', ')}`)
  const engine = options.engines.includes('postgres') ? ' --engine postgres' : ''
  const at = args.findIndex(arg => arg.startsWith('--clock-shift'))
  const shifts = at < 0 ? '' : ` ${args[at]}${args[at]?.includes('=') ? '' : ` ${args[at + 1]}`}`
  const replayOptions = `${engine}${options.isWide ? ' --wide' : ''}${options.isSmall ? ' --small' : ''}${shifts}`
  for (const line of summaryLines(outcome, { seconds, replayOptions })) console.log(line)
  process.exitCode = outcome.broken.length > 0 || never.length > 0 ? 1 : 0
}

await (options.isWorker ? runAsWorker() : runAsMain())
