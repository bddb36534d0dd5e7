/** Decides which answers a fault spoils: each fault has a rate, and one seed decides all draws. */
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { type Fault, faultTable, type SpoiledAnswer } from './fault-table.ts'

export type FaultName = keyof typeof faultTable
/** Share of the answers, from 0 to 1. */
export type FaultRates = Partial<Readonly<Record<FaultName, number>>>

export const faultNames = Object.keys(faultTable) as FaultName[]

interface Stream {
  readonly hits: Rng
  /** Draws of the fault itself, apart from the hits, so that one hit does not move the next. */
  readonly own: Rng
}

export interface Spoiling {
  /** Each endpoint has streams of its own, because requests to several endpoints arrive in no fixed order. */
  readonly route: string
  readonly isRead: boolean
  readonly answer: Omit<SpoiledAnswer, 'draw'>
}

export class Faults {
  readonly #rates: readonly (readonly [FaultName, number])[]
  readonly #seed: number
  readonly #streams = new Map<string, Stream>()
  readonly #left = new Map<FaultName, number>()
  #stopped = false

  constructor(rates: FaultRates, seed: number) {
    this.#rates = faultNames.flatMap(name => {
      const rate = rates[name] ?? 0
      return rate > 0 ? [[name, rate] as const] : []
    })
    this.#seed = seed
  }

  /** From now on no answer is spoiled. */
  stop(): void {
    this.#stopped = true
  }

  /** Ends what `stop` began. */
  resume(): void {
    this.#stopped = false
  }

  /** Sends the spoiled answer and names the fault; undefined leaves the answer to be sent as it is. */
  spoil({ route, isRead, answer }: Spoiling): FaultName | undefined {
    if (this.#stopped) return undefined
    const name = this.#drawn(route)
    if (name === undefined) return undefined
    const fault: Fault = faultTable[name]
    if (fault.readsOnly && !isRead) return undefined
    return fault.send({ ...answer, draw: this.#streamOf(name, route).own }) ? name : undefined
  }

  /** Every stream advances at every request, so that adding a fault does not shift the others. */
  #drawn(route: string): FaultName | undefined {
    const hits = this.#rates.filter(([name, rate]) => this.#streamOf(name, route).hits() < rate)
    const running = [...this.#left].find(([, left]) => left > 0)?.[0]
    const name = running ?? hits[0]?.[0]
    if (name === undefined) return undefined
    const { longest = 1 }: Fault = faultTable[name]
    if (running !== undefined) this.#left.set(name, (this.#left.get(name) ?? 1) - 1)
    else this.#left.set(name, Math.floor(this.#streamOf(name, route).own() * longest))
    return name
  }

  #streamOf(name: FaultName, route: string): Stream {
    const at = `${name} ${route}`
    const known = this.#streams.get(at) ?? {
      hits: namedRng(this.#seed, `fault ${at}`),
      own: namedRng(this.#seed, `spoil ${at}`),
    }
    this.#streams.set(at, known)
    return known
  }
}
