/**
 * A process of Muster inside this one: everything that it does to the world outside happens one step after the other, in an
 * order that the seed decides, and it can be killed before or after any step.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as othersGoOn } from 'node:timers/promises'
import type { Rng } from '../../src/lib/rng.ts'
import type { SimulatedClock } from './clock.ts'
import type { OpenWarehouse } from './open-warehouse.ts'

/** What a step does: kills are drawn for each kind by itself, or a commit would seldom be hit among a thousand reads. */
export type StepKind = 'read' | 'write' | 'commit' | 'file' | 'request' | 'sleep'

/** `half`: of a file only the first part is written. */
export type Phase = 'before' | 'half' | 'after'

/** `lasting`: whatever the next process finds changed. */
export type KilledKind = StepKind | 'lasting' | 'any'

const statements: readonly StepKind[] = ['read', 'write', 'commit']
const lasting: readonly StepKind[] = ['write', 'commit', 'file']

export interface Kill {
  readonly kind: KilledKind
  /** The step of this kind, counted from 1. */
  readonly step: number
  readonly phase: Phase
}

export interface Step {
  readonly kind: StepKind
  /** For the log of a seed. */
  readonly what: string
  /** What a kill in the middle leaves behind. */
  readonly half?: () => unknown
}

const kindsOf = ({ kind }: Step): readonly KilledKind[] =>
  lasting.includes(kind) ? [kind, 'lasting', 'any'] : [kind, 'any']

interface Waiting {
  readonly step: Step
  readonly perform: () => Promise<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** Gives back something that a process holds, as the operating system does when it dies. */
export type Belonging = () => Promise<void>

export interface ProcessParts {
  readonly clock: SimulatedClock
  readonly rng: Rng
  readonly kill?: Kill | undefined
  readonly belongings: Set<Belonging>
  /** A warehouse that outlives the process. */
  readonly kept?: OpenWarehouse
  /** Told of every step when it begins. */
  readonly onStep?: (step: Step) => void
}

/** Thrown by a step that would return at once; every other step of a dead process never ends. */
class Dead extends Error {
  constructor() {
    super('this process was killed')
  }
}

/** A night takes a few hundred steps for each list. */
const maxSteps = 20_000
/** Milliseconds of real time in which nothing happens, though the process has not ended. */
const stuckMs = 20_000

const never = <Result>(): Promise<Result> => new Promise(() => undefined)

const running = new AsyncLocalStorage<SimulatedProcess>()
/** Set within a step: what it does on its way belongs to it. */
const inStep = new AsyncLocalStorage<boolean>()

/** The process whose code is running; undefined for that of the simulation itself. */
export const current = (): SimulatedProcess | undefined => running.getStore()

/** Milliseconds that a step of each kind takes, at most. */
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
  readonly #steps = new Map<KilledKind, number>()
  readonly #waiting: Waiting[] = []
  readonly #sleepers = new Set<Sleeper>()
  readonly #killed: Promise<'killed'>
  #die: (killed: 'killed') => void = () => undefined
  #isBusy = false
  /** The statement that runs; it ends whatever happens to the process. */
  #statement: Promise<unknown> = Promise.resolve()
  /** What the last step did. */
  #last = 'none'
  /** Where it was killed. */
  death: { readonly step: Step; readonly phase: Phase } | undefined
  constructor(parts: ProcessParts) {
    this.#parts = parts
    this.#killed = new Promise(resolve => {
      this.#die = resolve
    })
  }

  /** The simulated time. */
  get iso(): string {
    return this.#parts.clock.iso
  }

  get belongings(): Set<Belonging> {
    return this.#parts.belongings
  }

  get kept(): OpenWarehouse | undefined {
    return this.#parts.kept
  }

  /** Work of this process; `killed` when it did not live to see the end. */
  async run<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result } | 'killed'> {
    const done = running.run(this, work).then(result => ({ result }))
    let seen = -1
    let timer: NodeJS.Timeout | undefined
    const stuck = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        const steps = this.steps('any')
        if (steps === seen || steps > maxSteps)
          reject(new Error(`it does not end: ${steps} steps, ${this.#last}`))
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

  /** How many steps of each kind there were. */
  steps(kind: KilledKind): number {
    return this.#steps.get(kind) ?? 0
  }

  /** Waits for its turn. The steps of a dead process never end, so that nothing can catch its death. */
  async step<Result>(step: Step, perform: () => Promise<Result>): Promise<Result> {
    if (this.death) return never()
    if (inStep.getStore()) return perform()
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ step, perform, resolve, reject })
      void this.#goOn()
    })
  }

  /** For what cannot wait: it happens at once. */
  stepNow<Result>(step: Step, perform: () => Result): Result {
    if (this.death) throw new Dead()
    if (inStep.getStore()) return perform()
    this.#begin(step, 'before')
    const result = perform()
    this.#end(step)
    if (this.death) throw new Dead()
    return result
  }

  sleep(ms: number): Promise<void> {
    if (this.death) return never()
    const until = this.#parts.clock.now() + ms
    return new Promise(resolve => {
      this.#sleepers.add({ until, wake: () => resolve() })
      void this.#goOn()
    })
  }

  /** One step at a time, each after everybody who could go on has gone on. */
  async #goOn(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    for (;;) {
      await othersGoOn()
      if (this.death) return
      this.#wakeSleepers()
      const next = this.#drawn()
      if (next) await this.#perform(next)
      else if (!this.#wakeNext()) break
    }
    this.#isBusy = false
  }

  #drawn(): Waiting | undefined {
    const at = Math.floor(this.#parts.rng() * this.#waiting.length)
    return this.#waiting.splice(at, 1)[0]
  }

  #wakeSleepers(): void {
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.#parts.clock.now()) this.#wake(sleeper)
  }

  /** Nobody has anything to do before: time passes. */
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

  async #perform({ step, perform, resolve, reject }: Waiting): Promise<void> {
    this.#begin(step, 'before')
    if (this.death) return
    try {
      const performed = inStep.run(true, perform)
      // A file may be written meanwhile, and the process killed at that. DuckDB crashes where its connection is closed then.
      if (statements.includes(step.kind)) this.#statement = performed.catch(() => undefined)
      const result = await performed
      this.#end(step)
      if (!this.death) resolve(result as never)
    } catch (error) {
      this.#end(step)
      if (!this.death) reject(error)
    }
  }

  #begin(step: Step, phase: Phase): void {
    const { clock, rng, onStep } = this.#parts
    for (const kind of kindsOf(step)) this.#steps.set(kind, this.steps(kind) + 1)
    clock.advance(1 + Math.floor(rng() * maxMs[step.kind]))
    this.#last = `${step.kind} ${step.what}`
    onStep?.(step)
    this.#dieAt(step, phase)
  }

  #end(step: Step): void {
    this.#dieAt(step, 'after')
  }

  #dieAt(step: Step, phase: Phase): void {
    const { kill } = this.#parts
    if (!kill || this.death) return
    const isStep = kindsOf(step).includes(kill.kind) && this.steps(kill.kind) === kill.step
    if (!isStep) return
    const isHalf = kill.phase === 'half' && phase === 'before'
    if (!isHalf && kill.phase !== phase) return
    if (isHalf) step.half?.()
    this.death = { step, phase: kill.phase }
    this.#die('killed')
  }
}
