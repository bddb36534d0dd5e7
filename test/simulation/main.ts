/**
 * `npm run simulate -- --seeds A-B`: whole nights of random histories in simulated time, in as many processes as there are
 * cores (`--workers N`). One seed alone tells what happens in it. `--engine duckdb|postgres|both`, `--verbose` tells every step,
 * `--without ties,kills` leaves out changes, faults, quirks and options, `--small` keeps to one list and two nights,
 * `--plant NAME` puts a fault into Muster, `--first` ends at the first seed that breaks a law, `--minutes N` begins none after
 * so long, `--every-kill` repeats each seed with a kill before and after every write of its first two nights, `--kill 1:37:after`
 * is one of these, `--clock-shift -2h,0,2d` sets the clock of the machine wrong, `--sometimes` fails where something never happened.
 */
import { readOptions } from './options.ts'
import { countsOf, linesOf, type Outcome } from './outcome.ts'
import { runSeeds } from './seeds.ts'
import { inWorkers, type Word } from './workers.ts'

const args = process.argv.slice(2)
const options = readOptions(args)

async function asWorker(): Promise<void> {
  let isStopped = false
  const stop = (): void => {
    isStopped = true
  }
  process.on('message', stop).on('disconnect', stop)
  const say = (word: Word): void => void process.send?.(word)
  const begin = (begun: number): void => say({ begun })
  const outcome = await runSeeds(options, { show: line => say({ line }), begin, isStopped: () => isStopped })
  // Whatever of a seed is still open must not keep the process.
  process.send?.({ outcome } satisfies Word, () => process.exit())
}

async function neverHappened(outcome: Outcome): Promise<string[]> {
  if (!options.mustHappen) return []
  // It loads modules of src, which must be loaded after some of them are replaced.
  const sometimes = await import('./sometimes.ts')
  return sometimes.neverHappened(countsOf(outcome))
}

async function asWhole(): Promise<void> {
  const started = performance.now()
  const isAlone = options.seeds.length === 1
  const here = { show: (line: string) => console.log(line), begin: () => undefined, isStopped: () => false }
  const outcome = await (isAlone ? runSeeds(options, here) : inWorkers(options, args))
  const seconds = (performance.now() - started) / 1000
  const never = await neverHappened(outcome)
  if (never.length > 0) console.log(`never happened: ${never.join(', ')}`)
  const engine = options.engines.includes('postgres') ? ' --engine postgres' : ''
  const at = args.findIndex(arg => arg.startsWith('--clock-shift'))
  const shifts = at < 0 ? '' : ` ${args[at]}${args[at]?.includes('=') ? '' : ` ${args[at + 1]}`}`
  const how = `${engine}${options.isWide ? ' --wide' : ''}${options.isSmall ? ' --small' : ''}${shifts}`
  for (const line of linesOf(outcome, { seconds, how })) console.log(line)
  process.exitCode = outcome.broken.length > 0 || never.length > 0 ? 1 : 0
}

await (options.isWorker ? asWorker() : asWhole())
