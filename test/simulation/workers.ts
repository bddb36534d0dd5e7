/** Runs seeds in several processes at once, each with its own share, and merges the outcomes. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { threadLines } from './hung.ts'
import type { Options } from './options.ts'
import { mergeOutcomes, type Outcome } from './outcome.ts'

const mainFile = fileURLToPath(new URL('main.ts', import.meta.url))

/** A message from a worker: a line to print, the seed that it starts, or its outcome. */
export type WorkerMessage =
  | { readonly line: string }
  | { readonly startedSeed: number }
  | { readonly outcome: Outcome }

/** Time limit for a seed in milliseconds of real time. A seed takes a few seconds; about twenty on both engines under load. */
const maxSeedMs = 300_000

/**
 * Settings that save time and memory. Steps run one at a time, so one thread is enough for all statements; four would each keep
 * their own memory. Memory is not returned to the system after a statement, because the next one needs it again.
 */
const memorySettings = {
  UV_THREADPOOL_SIZE: '1',
  DUCKDB_JE_MALLOC_CONF: 'narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1',
  MALLOC_TRIM_THRESHOLD_: '1000000000',
  MALLOC_TOP_PAD_: '16777216',
  MALLOC_MMAP_THRESHOLD_: '1000000000',
}

function startWorker(part: number, { workers }: Options, args: readonly string[]): ChildProcess {
  return fork(mainFile, [...args, '--part', `${part}/${workers}`], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...memorySettings },
  })
}

/** Kills a worker whose seed hangs, and prints the seed, so that an unattended run ends. */
class Watchdog {
  readonly #worker: ChildProcess
  #timer: NodeJS.Timeout | undefined
  /** The running seed; undefined before the first. */
  seed: number | undefined
  isHung = false

  constructor(worker: ChildProcess) {
    this.#worker = worker
    this.begin(undefined)
  }

  begin(seed: number | undefined): void {
    this.seed = seed
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#kill(), maxSeedMs)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  async #kill(): Promise<void> {
    this.isHung = true
    const lines = await threadLines(this.#worker.pid ?? 0)
    console.log([`seed ${this.seed} hangs, and its worker is killed`, ...lines].join('\n'))
    this.#worker.kill('SIGKILL')
  }
}

async function watchWorker(worker: ChildProcess, onBroken: () => void): Promise<Outcome> {
  let outcome: Outcome | undefined
  const watchdog = new Watchdog(worker)
  worker.on('message', (message: WorkerMessage) => {
    if ('startedSeed' in message) watchdog.begin(message.startedSeed)
    else if ('outcome' in message) outcome = message.outcome
    else {
      console.log(message.line)
      onBroken()
    }
  })
  const [code, signal] = await once(worker, 'exit')
  watchdog.end()
  if (outcome) return outcome
  const why = watchdog.isHung ? 'it hung' : 'its output says why'
  throw new Error(`a worker ended with ${code ?? signal} in seed ${watchdog.seed}: ${why}`)
}

export async function runInWorkers(options: Options, args: readonly string[]): Promise<Outcome> {
  const parts = Array.from({ length: options.workers }, (_, part) => part)
  const workers = parts.map(part => startWorker(part, options, args))
  const stop = (): void => {
    // A worker that has just ended cannot receive this, so ignore the error.
    if (options.endsAtFirst) for (const worker of workers) worker.send('stop', () => undefined)
  }
  return mergeOutcomes(await Promise.all(workers.map(worker => watchWorker(worker, stop))))
}
