/**
 * Simulates a process of Muster inside this one. Everything that it does to the outside world is a step. Steps run one at a
 * time, in an order that the seed decides, and the process can be killed before or after any of them.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Rng } from '../../src/lib/rng.ts'
import type { SimulatedClock } from './clock.ts'
import type { OpenWarehouse } from './open-warehouse.ts'

/** What a step does. Kills are drawn for each kind separately, because a commit is rare among a thousand reads. */
export type StepKind = 'read' | 'write' | 'commit' | 'file' | 'request' | 'sleep'

/** `half`: only the first half of a file is written. */
export type Phase = 'before' | 'half' | 'after'

/** `durable`: a step whose effect outlives the process. */
export type KillKind = StepKind | 'durable' | 'any'

const statementKinds: readonly StepKind[] = ['read', 'write', 'commit']
const durableKinds: readonly StepKind[] = ['write', 'commit', 'file']

export interface Kill {
  readonly kind: KillKind
  /** The step of this kind, counted from 1. */
  readonly step: number
  readonly phase: Phase
}

export interface Step {
  readonly kind: StepKind
  /** For the log of a seed. */
  readonly what: string
  /** Performs the first half, for a kill in the middle. */
  readonly half?: () => unknown
}

const kindsOf = ({ kind }: Step): readonly KillKind[] =>
  durableKinds.includes(kind) ? [kind, 'durable', 'any'] : [kind, 'any']

interface WaitingStep {
  readonly step: Step
  readonly perform: () => Promise<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** Releases something that a process holds, as the operating system does after a kill. */
export type Cleanup = () => Promise<void>

export interface ProcessParts {
  readonly clock: SimulatedClock
  readonly rng: Rng
  readonly kill?: Kill | undefined
  readonly cleanups: Set<Cleanup>
  /** A warehouse that stays open when the process ends. */
  readonly openWarehouse?: OpenWarehouse
  /** Called when a step begins. */
  readonly onStep?: (step: Step) => void
}

/** Thrown by a synchronous step of a killed process; its other steps never settle. */
class KilledError extends Error {
  constructor() {
    super('this process was killed')
  }
}

/** Far above what a day takes: a few hundred steps for each list. */
const maxSteps = 20_000
/** Milliseconds of real time without a step after which a process counts as hung. */
const stuckMs = 20_000

const never = <Result>(): Promise<Result> => new Promise(() => undefined)

const running = new AsyncLocalStorage<SimulatedProcess>()
/** Set within a step: calls that it makes are part of it, not steps of their own. */
const inStep = new AsyncLocalStorage<boolean>()

/** The process whose code is running; undefined in code of the simulation itself. */
export const current = (): SimulatedProcess | undefined => running.getStore()

/** Maximum duration of a step of each kind, in milliseconds of simulated time. */
const maxMs: Readonly<Record<StepKind, number>> = {
  read: 3,
  write: 5,
  commit: 8,
  file: 3,
  request: 60,
  sleep: 0,
}

export class SimulatedProcess {
  readonly #parts: ProcessParts
  readonly #steps = new Map<KillKind, number>()
  readonly #waiting: WaitingStep[] = []
  readonly #sleepers = new Set<Sleeper>()
  readonly #killed: Promise<'killed'>
  #resolveKilled: (killed: 'killed') => void = () => undefined
  #isBusy = false
  /** The running statement. `run` waits for it even after a kill. */
  #statement: Promise<unknown> = Promise.resolve()
  /** Describes the last step. */
  #last = 'none'
  /** The step at which it was killed. */
  killPoint: { readonly step: Step; readonly phase: Phase } | undefined
  constructor(parts: ProcessParts) {
    this.#parts = parts
    this.#killed = new Promise(resolve => {
      this.#resolveKilled = resolve
    })
  }

  /** The simulated time. */
  get iso(): string {
    return this.#parts.clock.iso
  }

  get cleanups(): Set<Cleanup> {
    return this.#parts.cleanups
  }

  get openWarehouse(): OpenWarehouse | undefined {
    return this.#parts.openWarehouse
  }

  /** Runs the work of this process; returns `killed` if it was killed before the end. */
  async run<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result } | 'killed'> {
    const done = running.run(this, work).then(result => ({ result }))
    let seen = -1
    let timer: NodeJS.Timeout | undefined
    const stuck = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        const steps = this.steps('any')
        if (steps === seen || steps > maxSteps)
          reject(new Error(`the process does not end: ${steps} steps, the last ${this.#last}`))
        seen = steps
      }, stuckMs)
    })
    try {
      return await Promise.race([done, this.#killed, stuck])
    } finally {
      clearInterval(timer)
      await this.#statement
    }
  }

  /** The number of steps of this kind so far. */
  steps(kind: KillKind): number {
    return this.#steps.get(kind) ?? 0
  }

  /** Waits for its turn. The steps of a killed process never settle, so that no code can catch the kill. */
  async step<Result>(step: Step, perform: () => Promise<Result>): Promise<Result> {
    if (this.killPoint) return never()
    if (inStep.getStore()) return perform()
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ step, perform, resolve, reject })
      void this.#runSteps()
    })
  }

  /** For synchronous calls: runs immediately, out of turn. */
  stepNow<Result>(step: Step, perform: () => Result): Result {
    if (this.killPoint) throw new KilledError()
    if (inStep.getStore()) return perform()
    this.#begin(step, 'before')
    const result = perform()
    this.#end(step)
    if (this.killPoint) throw new KilledError()
    return result
  }

  sleep(ms: number): Promise<void> {
    if (this.killPoint) return never()
    const until = this.#parts.clock.now() + ms
    return new Promise(resolve => {
      this.#sleepers.add({ until, wake: () => resolve() })
      void this.#runSteps()
    })
  }

  /** Runs one step at a time. Before each, all other code of the process runs until it waits. */
  async #runSteps(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    for (;;) {
      await yieldToOthers()
      if (this.killPoint) return
      this.#wakeSleepers()
      const next = this.#drawStep()
      if (next) await this.#perform(next)
      else if (!this.#wakeNext()) break
    }
    this.#isBusy = false
  }

  #drawStep(): WaitingStep | undefined {
    const at = Math.floor(this.#parts.rng() * this.#waiting.length)
    return this.#waiting.splice(at, 1)[0]
  }

  #wakeSleepers(): void {
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.#parts.clock.now()) this.#wake(sleeper)
  }

  /** No step is waiting: moves the clock to the end of the next sleep. */
  #wakeNext(): boolean {
    const [first] = [...this.#sleepers].sort((one, other) => one.until - other.until)
    if (!first) return false
    this.#parts.clock.set(first.until)
    this.#wake(first)
    return true
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper)
    sleeper.wake()
  }

  async #perform({ step, perform, resolve, reject }: WaitingStep): Promise<void> {
    this.#begin(step, 'before')
    if (this.killPoint) return
    try {
      const performed = inStep.run(true, perform)
      // A kill may come at a synchronous file step meanwhile. DuckDB crashes if its connection is closed during a statement.
      if (statementKinds.includes(step.kind)) this.#statement = performed.catch(() => undefined)
      const result = await performed
      this.#end(step)
      if (!this.killPoint) resolve(result as never)
    } catch (error) {
      this.#end(step)
      if (!this.killPoint) reject(error)
    }
  }

  #begin(step: Step, phase: Phase): void {
    const { clock, rng, onStep } = this.#parts
    for (const kind of kindsOf(step)) this.#steps.set(kind, this.steps(kind) + 1)
    clock.advance(1 + Math.floor(rng() * maxMs[step.kind]))
    this.#last = `${step.kind} ${step.what}`
    onStep?.(step)
    this.#killAt(step, phase)
  }

  #end(step: Step): void {
    this.#killAt(step, 'after')
  }

  #killAt(step: Step, phase: Phase): void {
    const { kill } = this.#parts
    if (!kill || this.killPoint) return
    const isStep = kindsOf(step).includes(kill.kind) && this.steps(kill.kind) === kill.step
    if (!isStep) return
    const isHalf = kill.phase === 'half' && phase === 'before'
    if (!isHalf && kill.phase !== phase) return
    if (isHalf) step.half?.()
    this.killPoint = { step, phase: kill.phase }
    this.#resolveKilled('killed')
  }
}
