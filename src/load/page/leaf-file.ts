/** Undeclared leaves on their way into the stage: a file of lines, as no key is safe in SQL. */
import { appendFileSync } from 'node:fs'
import { readLines } from '../read/pages.ts'
import type { Leaf } from './undeclared-leaves.ts'

/** Lines that memory holds before they are written. */
const mostLines = 20_000

export class LeafFile {
  readonly #place: () => string
  #file = ''
  #lines: string[] = []
  #longest = 0

  /** `place` is asked once there is something to write. */
  constructor(place: () => string) {
    this.#place = place
  }

  add(locator: number, leaves: readonly Leaf[]): void {
    for (const { path, text, type } of leaves) {
      const line = JSON.stringify({ l: locator, p: path, v: text, t: type })
      // Up to three bytes a character.
      this.#longest = Math.max(this.#longest, line.length * 3)
      this.#lines.push(line)
    }
    if (this.#lines.length >= mostLines) this.flush()
  }

  /** Writes what was added since the last time. */
  flush(): void {
    if (this.#lines.length === 0) return
    this.#file ||= this.#place()
    appendFileSync(this.#file, `${this.#lines.splice(0).join('\n')}\n`, { mode: 0o600 })
  }

  /** A select of locator, path, value_text and value_type; undefined when there are none. */
  get rows(): string | undefined {
    if (this.#file === '') return undefined
    const columns = { l: 'BIGINT', p: 'VARCHAR', v: 'VARCHAR', t: 'VARCHAR' }
    return `select l as locator, p as path, v as value_text, t as value_type
      from ${readLines(this.#file, columns, this.#longest)}`
  }
}
