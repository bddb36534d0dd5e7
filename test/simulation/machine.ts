/** Runs the processes of a seed one after the other on one warehouse, and kills them. */
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import type { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { type Cleanup, type Kill, type Phase, SimulatedProcess, type Step, type StepKind } from './process.ts'
import type { Disk } from './warehouses.ts'

export interface MachineParts {
  readonly seed: number
  readonly clock: SimulatedClock
  readonly disk: Disk
  readonly counts: Counts
  readonly onStep?: (step: Step) => void
}

/** Approximate number of steps of each kind in a day with one list. */
const defaultSteps: Readonly<Record<StepKind | 'any', number>> = {
  any: 250,
  read: 150,
  write: 60,
  commit: 14,
  file: 16,
  request: 12,
  sleep: 1,
}

/** Kinds of steps that are killed, by weight; reads rarely, because they change nothing. */
const kinds = ['commit', 'commit', 'write', 'write', 'file', 'file', 'request', 'any'] as const
const phases: Readonly<Record<(typeof kinds)[number], readonly Phase[]>> = {
  commit: ['before', 'after'],
  write: ['before', 'after'],
  file: ['before', 'half', 'after'],
  request: ['before', 'after'],
  any: ['before', 'after'],
}

/** Counter names of every kind of step and phase in which a kill may come. */
export const killsDrawn: readonly string[] = [...new Set(kinds)]
  .filter(kind => kind !== 'any')
  .flatMap(kind => phases[kind].map(phase => `kill ${phase} ${kind}`))

export class Machine {
  readonly #parts: MachineParts
  readonly #rng: Rng
  readonly #cleanups = new Set<Cleanup>()
  #engine: Engine | undefined
  #processes = 0
  #last: SimulatedProcess | undefined

  constructor(parts: MachineParts) {
    this.#parts = parts
    this.#rng = namedRng(parts.seed, 'kills')
  }

  /** Draws a kill somewhere in a day; it may be after the day's last step. */
  drawKill(lists: number): Kill {
    const kind = kinds[Math.floor(this.#rng() * kinds.length)]!
    const step = 1 + Math.floor(this.#rng() * defaultSteps[kind] * lists)
    return { kind, step, phase: phases[kind][Math.floor(this.#rng() * phases[kind].length)]! }
  }

  /** Runs one process on the warehouse, which stays open for the next one; undefined if it was killed. */
  run<Result>(
    work: (engine: Engine) => Promise<Result>,
    kill?: Kill,
  ): Promise<{ readonly result: Result } | undefined> {
    return this.runAlone(async () => {
      this.#engine ??= await this.#parts.disk.open()
      return work(this.#engine)
    }, kill)
  }

  /** Runs one process that opens the warehouse itself; call `stop` first. */
  async runAlone<Result>(
    work: () => Promise<Result>,
    kill?: Kill,
  ): Promise<{ readonly result: Result } | undefined> {
    const { seed, clock, counts, onStep, disk } = this.#parts
    this.#processes += 1
    const rng = namedRng(seed, `process ${this.#processes}`)
    const cleanups = this.#cleanups
    const process = new SimulatedProcess({
      ...{ clock, rng, kill, cleanups },
      ...(onStep && { onStep }),
      ...(disk.openWarehouse && { openWarehouse: disk.openWarehouse }),
    })
    this.#last = process
    const done = await process.run(work)
    if (done !== 'killed') return done
    const { step, phase } = process.killPoint!
    counts.add(`kill ${phase} ${step.kind}`)
    onStep?.({ kind: step.kind, what: `KILLED ${phase}: ${step.what}` })
    await this.crash()
    return undefined
  }

  /** Steps of the last process whose effect outlives it. */
  get durableSteps(): number {
    return this.#last?.steps('durable') ?? 0
  }

  /** The engine for the simulation's own queries, which are not steps. */
  async engine(): Promise<Engine> {
    if (!this.#engine) await this.run(async () => undefined)
    return this.#engine!
  }

  /** Releases what a killed process held, as the operating system would. */
  async crash(): Promise<void> {
    this.#engine = undefined
    const pending = [...this.#cleanups]
    this.#cleanups.clear()
    for (const cleanUp of pending) await cleanUp()
    await this.#parts.disk.settled()
  }

  /** Ends the process normally. */
  async stop(): Promise<void> {
    await this.#engine?.close()
    this.#engine = undefined
  }
}
