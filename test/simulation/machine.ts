/** The machine that the processes of a seed run on, one after the other, with the warehouse that they open in turn. */
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import type { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import {
  type Belonging,
  type Kill,
  type Phase,
  SimulatedProcess,
  type Step,
  type StepKind,
} from './process.ts'
import type { Disk } from './warehouses.ts'

export interface MachineParts {
  readonly seed: number
  readonly clock: SimulatedClock
  readonly disk: Disk
  readonly counts: Counts
  readonly onStep?: (step: Step) => void
}

/** Steps of each kind in a night of one list, about. */
const defaultSteps: Readonly<Record<StepKind | 'any', number>> = {
  any: 250,
  read: 150,
  write: 60,
  commit: 14,
  file: 16,
  request: 12,
  sleep: 1,
}

/** Where a kill comes: seldom in a read, which changes nothing. */
const kinds = ['commit', 'commit', 'write', 'write', 'file', 'file', 'request', 'any'] as const
const phases: Readonly<Record<(typeof kinds)[number], readonly Phase[]>> = {
  commit: ['before', 'after'],
  write: ['before', 'after'],
  file: ['before', 'half', 'after'],
  request: ['before', 'after'],
  any: ['before', 'after'],
}

/** Every kind of step with every phase in which it can be killed. */
export const killsDrawn: readonly string[] = [...new Set(kinds)]
  .filter(kind => kind !== 'any')
  .flatMap(kind => phases[kind].map(phase => `kill ${phase} ${kind}`))

export class Machine {
  readonly #parts: MachineParts
  readonly #rng: Rng
  readonly #belongings = new Set<Belonging>()
  #engine: Engine | undefined
  #processes = 0
  #last: SimulatedProcess | undefined

  constructor(parts: MachineParts) {
    this.#parts = parts
    this.#rng = namedRng(parts.seed, 'kills')
  }

  /** A kill somewhere in a night; it may be later than the night lasts. */
  drawnKill(lists: number): Kill {
    const kind = kinds[Math.floor(this.#rng() * kinds.length)]!
    const step = 1 + Math.floor(this.#rng() * defaultSteps[kind] * lists)
    return { kind, step, phase: phases[kind][Math.floor(this.#rng() * phases[kind].length)]! }
  }

  /** One process over the warehouse, which stays open for the next one; undefined when it was killed. */
  run<Result>(
    work: (engine: Engine) => Promise<Result>,
    kill?: Kill,
  ): Promise<{ readonly result: Result } | undefined> {
    return this.runAlone(async () => {
      this.#engine ??= await this.#parts.disk.open()
      return work(this.#engine)
    }, kill)
  }

  /** One process that opens the warehouse itself; `stop` must have closed it. */
  async runAlone<Result>(
    work: () => Promise<Result>,
    kill?: Kill,
  ): Promise<{ readonly result: Result } | undefined> {
    const { seed, clock, counts, onStep, disk } = this.#parts
    this.#processes += 1
    const rng = namedRng(seed, `process ${this.#processes}`)
    const belongings = this.#belongings
    const process = new SimulatedProcess({
      ...{ clock, rng, kill, belongings },
      ...(onStep && { onStep }),
      ...(disk.kept && { kept: disk.kept }),
    })
    this.#last = process
    const done = await process.run(work)
    if (done !== 'killed') return done
    const { step, phase } = process.death!
    counts.add(`kill ${phase} ${step.kind}`)
    onStep?.({ kind: step.kind, what: `KILLED ${phase}: ${step.what}` })
    await this.crash()
    return undefined
  }

  /** Steps of the last process that the next one finds something changed by. */
  get lastingSteps(): number {
    return this.#last?.steps('lasting') ?? 0
  }

  /** The engine for questions of the simulation itself, which are no steps. */
  async engine(): Promise<Engine> {
    if (!this.#engine) await this.run(async () => undefined)
    return this.#engine!
  }

  /** What the operating system does to a process that was killed. */
  async crash(): Promise<void> {
    this.#engine = undefined
    const leaving = [...this.#belongings]
    this.#belongings.clear()
    for (const leave of leaving) await leave()
    await this.#parts.disk.settled()
  }

  /** The process ends by itself. */
  async stop(): Promise<void> {
    await this.#engine?.close()
    this.#engine = undefined
  }
}
