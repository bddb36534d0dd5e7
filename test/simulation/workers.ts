/** Seeds in several processes at once, each with its own seeds, and what all of them came to. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { threadLines } from './hung.ts'
import type { Options } from './options.ts'
import { type Outcome, together } from './outcome.ts'

const program = fileURLToPath(new URL('main.ts', import.meta.url))

/** What a worker says: a line to show, a seed that it begins, or what its seeds came to. */
export type Word = { readonly line: string } | { readonly begun: number } | { readonly outcome: Outcome }

/** Milliseconds of real time for one seed: it takes a few seconds, and on both engines under load some twenty. */
const longestSeedMs = 300_000

/**
 * Steps happen one after the other, so one thread runs all statements: four would each keep memory of their own. Memory that is
 * given back to the system after each statement is taken again for the next one.
 */
const thrifty = {
  UV_THREADPOOL_SIZE: '1',
  DUCKDB_JE_MALLOC_CONF: 'narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1',
  MALLOC_TRIM_THRESHOLD_: '1000000000',
  MALLOC_TOP_PAD_: '16777216',
  MALLOC_MMAP_THRESHOLD_: '1000000000',
}

function start(part: number, { workers }: Options, args: readonly string[]): ChildProcess {
  return fork(program, [...args, '--part', `${part}/${workers}`], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...thrifty },
  })
}

/** Kills a worker whose seed does not end, so that its number is known, and a run without a watcher ends. */
class Watch {
  readonly #worker: ChildProcess
  #timer: NodeJS.Timeout | undefined
  /** The seed that runs; undefined before the first. */
  seed: number | undefined
  isHung = false

  constructor(worker: ChildProcess) {
    this.#worker = worker
    this.begin(undefined)
  }

  begin(seed: number | undefined): void {
    this.seed = seed
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#kill(), longestSeedMs)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  async #kill(): Promise<void> {
    this.isHung = true
    const lines = await threadLines(this.#worker.pid ?? 0)
    console.log([`seed ${this.seed} does not end, and is killed`, ...lines].join('\n'))
    this.#worker.kill('SIGKILL')
  }
}

async function outcomeOf(worker: ChildProcess, onBroken: () => void): Promise<Outcome> {
  let outcome: Outcome | undefined
  const watch = new Watch(worker)
  worker.on('message', (word: Word) => {
    if ('begun' in word) watch.begin(word.begun)
    else if ('outcome' in word) outcome = word.outcome
    else {
      console.log(word.line)
      onBroken()
    }
  })
  const [code, signal] = await once(worker, 'exit')
  watch.end()
  if (outcome) return outcome
  const why = watch.isHung ? 'it did not end' : 'what it printed says why'
  throw new Error(`a worker ended with ${code ?? signal} in seed ${watch.seed}: ${why}`)
}

export async function inWorkers(options: Options, args: readonly string[]): Promise<Outcome> {
  const parts = Array.from({ length: options.workers }, (_, part) => part)
  const workers = parts.map(part => start(part, options, args))
  const stop = (): void => {
    // One that has just ended hears nothing, and need not.
    if (options.endsAtFirst) for (const worker of workers) worker.send('stop', () => undefined)
  }
  return together(await Promise.all(workers.map(worker => outcomeOf(worker, stop))))
}
