/**
 * What became of each row, beside the input: a line before a row is sent and a line after. A second run reads it
 * and sends only what has not succeeded. It names rows by hash and agency id, never by a person's details.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { UsageError } from '../../lib/errors.ts'

const outcomes = [
  'sending',
  'created',
  'updated',
  'review',
  'conflict',
  'refused',
  'unsettled',
  'unsent',
] as const

const entry = z.object({
  hash: z.string(),
  row: z.number(),
  /** The agency's own id of the worker, or the id of the one that is updated. */
  worker: z.string(),
  outcome: z.enum(outcomes),
  id: z.string().optional(),
  reference: z.string().optional(),
  code: z.string().optional(),
  at: z.string(),
})

export type Entry = z.infer<typeof entry>
export type Outcome = Entry['outcome']

export class OutcomeFile {
  readonly #file: string
  readonly #last = new Map<string, Entry>()

  /** Throws UsageError when nothing can be written there: a run that forgets could send twice. */
  constructor(file: string, shown: string) {
    this.#file = file
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    for (const line of text.split('\n')) this.#take(line)
    try {
      // Ends a line that a killed run left half written.
      appendFileSync(file, text === '' || text.endsWith('\n') ? '' : '\n')
    } catch (cause) {
      throw new UsageError({
        what: `${shown} cannot be written`,
        next: 'see its folder and permissions',
        cause,
      })
    }
  }

  last(hash: string): Entry | undefined {
    return this.#last.get(hash)
  }

  add(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`)
    this.#last.set(entry.hash, entry)
  }

  #take(line: string): void {
    try {
      const read = entry.safeParse(JSON.parse(line))
      if (read.success) this.#last.set(read.data.hash, read.data)
    } catch {
      // Half a line of a run that was killed: the row counts by the line before it.
    }
  }
}
