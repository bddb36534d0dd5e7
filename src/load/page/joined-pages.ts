/**
 * Joins small pages for the stage: one line each, in one file. DuckDB spends 0.2 ms on each file in each statement, so
 * a list of 82 responses takes 2 ms instead of 17.
 */
import { closeSync, openSync, writevSync } from 'node:fs'

/** Copying a larger page costs more than reading its own file. */
const largest = 65_536

const openBrace = 0x7b
const quote = 0x22
const lineFeed = 0x0a

/** Key of the page number, from 1; precedes the service's keys in each line. */
export const numberKey = '#page'
const ownKey = Buffer.from(`"${numberKey}"`)

export const areSmall = (pages: readonly { readonly bytes: number }[]): boolean =>
  pages.length > 1 && pages.every(({ bytes }) => bytes <= largest)

/** Whether a key can be added at the start of the line: it is an object with keys, and does not contain this one. */
const takesNumber = (line: Buffer): boolean =>
  line[0] === openBrace && line[1] === quote && !line.includes(ownKey)

export class JoinedPages {
  readonly file: string
  readonly #opened: number
  #count = 0
  /** False once a page did not fit into one line with its number: then every page is read from its own file. */
  isComplete = true

  constructor(file: string) {
    this.file = file
    this.#opened = openSync(file, 'w', 0o600)
  }

  add(page: Buffer, isLine: boolean): void {
    const line = page.at(-1) === lineFeed ? page.subarray(0, -1) : page
    this.isComplete &&= isLine && takesNumber(line)
    if (!this.isComplete) return
    this.#count += 1
    const head = Buffer.from(`{"${numberKey}":${this.#count},`)
    writevSync(this.#opened, [head, line.subarray(1), Buffer.from('\n')])
  }

  close(): void {
    closeSync(this.#opened)
  }
}
