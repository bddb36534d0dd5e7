/** Writes undeclared leaves to a file of lines for the stage, as keys are not safe in SQL. */
import { appendFileSync } from 'node:fs'
import { readLines } from '../read/pages.ts'
import type { UndeclaredLeaf } from './undeclared-leaves.ts'

/** Lines buffered in memory before they are written. */
const maxLines = 20_000

export class LeafFile {
  readonly #place: () => string
  #file = ''
  #lines: string[] = []
  #longest = 0

  /** Calls `place` once there is something to write. */
  constructor(place: () => string) {
    this.#place = place
  }

  add(locator: number, leaves: readonly UndeclaredLeaf[]): void {
    for (const { path, text, type } of leaves) {
      const line = JSON.stringify({ l: locator, p: path, v: text, t: type })
      // A character has up to three bytes.
      this.#longest = Math.max(this.#longest, line.length * 3)
      this.#lines.push(line)
    }
    if (this.#lines.length >= maxLines) this.flush()
  }

  /** Writes the buffered lines. */
  flush(): void {
    if (this.#lines.length === 0) return
    this.#file ||= this.#place()
    appendFileSync(this.#file, `${this.#lines.splice(0).join('\n')}\n`, { mode: 0o600 })
  }

  /** Selects locator, path, value_text and value_type; undefined without leaves. */
  get rows(): string | undefined {
    if (this.#file === '') return undefined
    const columns = { l: 'BIGINT', p: 'VARCHAR', v: 'VARCHAR', t: 'VARCHAR' }
    return `select l as locator, p as path, v as value_text, t as value_type
      from ${readLines(this.#file, columns, this.#longest)}`
  }
}
