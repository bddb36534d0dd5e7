/** What trials gave, one line each in a file: several invocations add up to one table, and each begins where the last ended. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Outcome } from './trial.ts'

export interface Result extends Outcome {
  readonly trial: string
  readonly engine: string
  readonly seed: number
  readonly turn: number
  /** Of the processor: ours and that of the commands, without a server of PostgreSQL. */
  readonly cpuSeconds: number
}

const lines = (file: string): Result[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line) as Result)
    : []

export class Results {
  readonly #file: string | undefined
  readonly #all: Result[]

  /** Without a file they last as long as the process. */
  constructor(file: string | undefined) {
    this.#file = file
    this.#all = file === undefined ? [] : lines(file)
  }

  add(result: Result): void {
    this.#all.push(result)
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(result)}\n`)
  }

  #of(trial: string, engine: string): Result[] {
    return this.#all.filter(result => result.trial === trial && result.engine === engine)
  }

  /** The first turn that was not tried. */
  nextTurn(trial: string, engine: string, seed: number): number {
    const turns = this.#of(trial, engine).filter(result => result.seed === seed)
    return Math.max(-1, ...turns.map(({ turn }) => turn)) + 1
  }

  get anyBroken(): boolean {
    return this.#all.some(({ broken }) => broken.length > 0)
  }

  table(): string[] {
    const kinds = new Map(this.#all.map(result => [`${result.trial} ${result.engine}`, result]))
    const rows = [...kinds.values()].map(({ trial, engine }) => {
      const all = this.#of(trial, engine)
      const sum = (of: (result: Result) => number) => all.reduce((total, result) => total + of(result), 0)
      const slowest = Math.max(...all.map(({ slowestMs = 0 }) => slowestMs))
      const figures = [
        all.length,
        sum(({ blows }) => blows),
        sum(({ broken }) => broken.length),
        Math.round(slowest),
        Math.round(sum(({ cpuSeconds }) => cpuSeconds)),
      ]
      return `${trial.padEnd(16)} ${engine.padEnd(9)} ${figures.map(figure => String(figure).padStart(11)).join('')}`
    })
    return ['trial            engine          trials      blows     broken slowest ms  CPU seconds', ...rows]
  }

  /** Of what is listed by name, such as pairs of commands. */
  names(): string[] {
    return [
      ...new Set(this.#all.flatMap(({ engine, names = [] }) => names.map(name => `${engine}: ${name}`))),
    ]
  }
}
