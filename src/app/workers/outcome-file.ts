/**
 * The outcome of each row, in a file beside the input: one line before the row is sent and one after. A second run reads
 * it and sends only rows that have not succeeded. It names rows by hash and agency id, never by personal details.
 */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs'
import { z } from 'zod'
import { UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'

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
  /** The agency's own id of a new worker, or the id of an updated one. */
  worker: z.string(),
  outcome: z.enum(outcomes),
  id: z.string().optional(),
  reference: z.string().optional(),
  code: z.string().optional(),
  at: z.string(),
})

export type Entry = z.infer<typeof entry>
export type Outcome = Entry['outcome']

/** Bytes of the outcomes of a million rows. */
const largestOutcomes = 256 * 1_048_576

function earlierText(file: string, shown: string): string {
  const read = readInputText(file, { mostBytes: largestOutcomes })
  if (typeof read === 'string') return read
  if (read.isMissing) return ''
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'move it away, or give the input another name' })
}

/** Through no link, which could lead to a file that is not ours. */
function append(file: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const opened = openSync(file, flags, 0o600)
  try {
    appendFileSync(opened, text)
  } finally {
    closeSync(opened)
  }
}

export class OutcomeFile {
  readonly #file: string
  readonly #last = new Map<string, Entry>()

  /** Throws UsageError when the file cannot be written: without it a second run could send rows twice. */
  constructor(file: string, shown: string) {
    this.#file = file
    const text = earlierText(file, shown)
    for (const line of text.split('\n')) this.#read(line)
    try {
      // Ends the half-written line of a killed run.
      append(file, text === '' || text.endsWith('\n') ? '' : '\n')
    } catch (cause) {
      throw new UsageError({
        what: `${shown} cannot be written`,
        next: 'check its folder and permissions',
        cause,
      })
    }
  }

  last(hash: string): Entry | undefined {
    return this.#last.get(hash)
  }

  add(entry: Entry): void {
    append(this.#file, `${JSON.stringify(entry)}\n`)
    this.#last.set(entry.hash, entry)
  }

  #read(line: string): void {
    try {
      const parsed = entry.safeParse(JSON.parse(line))
      if (parsed.success) this.#last.set(parsed.data.hash, parsed.data)
    } catch {
      // The half-written line of a killed run: the line before it tells the outcome of the row.
    }
  }
}
