/**
 * The outcome of each row, in a file beside the input: one line before the row is sent and one after. A second run reads
 * it and sends only rows that have not succeeded. It names rows by hash and agency id, never by personal details.
 */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs'
import * as z from 'zod'
import { UsageError } from '../../lib/errors.ts'
import { lineFeed, linesOf, readInputUtf8 } from '../../lib/input-file.ts'
import { Pause } from '../../lib/time/pause.ts'

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

/** Bytes of one line, with room for ids of the service. */
const longestEntry = 65_536

function earlierText(file: string, shown: string): Buffer {
  const read = readInputUtf8(file, { mostBytes: largestOutcomes })
  if (Buffer.isBuffer(read)) return read
  if (read.isMissing) return Buffer.alloc(0)
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

interface Place {
  readonly file: string
  /** As the user knows it. */
  readonly shown: string
}

/** The last entry of each row, among `wanted` hashes. */
async function lastEntries(text: Buffer, wanted: ReadonlySet<string>, signal: AbortSignal) {
  const last = new Map<string, Entry>()
  const pause = new Pause(signal)
  for (const line of linesOf(text)) {
    const read = entryOf(line)
    if (read && wanted.has(read.hash)) last.set(read.hash, read)
    if (pause.isDue) await pause.take()
  }
  return last
}

/** Undefined for the half-written line of a killed run: the line before it tells the outcome of the row. */
function entryOf(line: Buffer): Entry | undefined {
  if (line.length > longestEntry) return undefined
  try {
    return entry.safeParse(JSON.parse(line.toString('utf8'))).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export class OutcomeFile {
  readonly #file: string
  readonly #last: Map<string, Entry>

  private constructor(file: string, last: Map<string, Entry>) {
    this.#file = file
    this.#last = last
  }

  /**
   * Knows of the rows with `wanted` hashes. Throws UsageError when the file cannot be written: without it a second run could
   * send rows twice.
   */
  static async open(
    { file, shown }: Place,
    wanted: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<OutcomeFile> {
    const text = earlierText(file, shown)
    const last = await lastEntries(text, wanted, signal)
    try {
      // Ends the half-written line of a killed run.
      append(file, text.length === 0 || text.at(-1) === lineFeed ? '' : '\n')
    } catch (cause) {
      throw new UsageError({
        what: `${shown} cannot be written`,
        next: 'check its folder and permissions',
        cause,
      })
    }
    return new OutcomeFile(file, last)
  }

  last(hash: string): Entry | undefined {
    return this.#last.get(hash)
  }

  add(entry: Entry): void {
    append(this.#file, `${JSON.stringify(entry)}\n`)
    this.#last.set(entry.hash, entry)
  }
}
