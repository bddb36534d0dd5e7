/** Undeclared leaves on their way into the stage: a file of lines beside the landed pages, as no key is safe in SQL. */
import { appendFileSync, rmSync } from 'node:fs'
import { readLines } from '../read/pages.ts'
import type { Leaf } from './undeclared-leaves.ts'

/** Lines that memory holds before they are written. */
const mostLines = 20_000

export class LeafFile {
  readonly #file: string
  #lines: string[] = []
  #longest = 0
  #isWritten = false

  constructor(file: string) {
    this.#file = file
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
    appendFileSync(this.#file, `${this.#lines.splice(0).join('\n')}\n`, { mode: 0o600 })
    this.#isWritten = true
  }

  /** A select of locator, path, value_text and value_type; undefined when there are none. */
  get rows(): string | undefined {
    if (!this.#isWritten) return undefined
    const columns = { l: 'BIGINT', p: 'VARCHAR', v: 'VARCHAR', t: 'VARCHAR' }
    return `select l as locator, p as path, v as value_text, t as value_type
      from ${readLines(this.#file, columns, this.#longest)}`
  }

  remove(): void {
    rmSync(this.#file, { force: true })
  }
}
