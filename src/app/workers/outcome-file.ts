/**
 * Records the outcome of each row in a file beside the input: one line before the row is sent and one after. A second run
 * reads it and sends only rows that have not succeeded. It names rows by hash and agency id, never by personal details.
 */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs'
import * as z from 'zod'
import { UsageError } from '../../lib/errors.ts'
import { lineFeed, linesOf, readInputUtf8 } from '../../lib/input-file.ts'
import { LoopPause } from '../../lib/pause.ts'

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

export type OutcomeEntry = z.infer<typeof entry>
export type WriteOutcome = OutcomeEntry['outcome']

/** Maximum bytes: the outcomes of a million rows. */
const largestOutcomes = 256 * 1_048_576

/** Maximum bytes of a line, with room for the service's ids. */
const longestEntry = 65_536

function earlierText(file: string, shown: string): Buffer {
  const read = readInputUtf8(file, { maxBytes: largestOutcomes })
  if (Buffer.isBuffer(read)) return read
  if (read.isMissing) return Buffer.alloc(0)
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'move it away, or give the input another name' })
}

/** Does not follow links, which could lead to another file. */
function append(file: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const opened = openSync(file, flags, 0o600)
  try {
    appendFileSync(opened, text)
  } finally {
    closeSync(opened)
  }
}

interface OutcomeFilePath {
  readonly file: string
  /** The path as the user typed it. */
  readonly shown: string
}

/** The last entry of each row, among `wanted` hashes. */
async function lastEntries(text: Buffer, wanted: ReadonlySet<string>, signal: AbortSignal) {
  const last = new Map<string, OutcomeEntry>()
  const pause = new LoopPause(signal)
  for (const line of linesOf(text)) {
    const read = entryOf(line)
    if (read && wanted.has(read.hash)) last.set(read.hash, read)
    if (pause.isDue) await pause.take()
  }
  return last
}

/** Undefined for the half-written line of a killed run; the line before it has the row's outcome. */
function entryOf(line: Buffer): OutcomeEntry | undefined {
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
  readonly #last: Map<string, OutcomeEntry>

  private constructor(file: string, last: Map<string, OutcomeEntry>) {
    this.#file = file
    this.#last = last
  }

  /**
   * Reads the outcomes of rows with `wanted` hashes. Throws UsageError if the file cannot be written: without it, a second
   * run could send rows twice.
   */
  static async open(
    { file, shown }: OutcomeFilePath,
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

  last(hash: string): OutcomeEntry | undefined {
    return this.#last.get(hash)
  }

  add(entry: OutcomeEntry): void {
    append(this.#file, `${JSON.stringify(entry)}\n`)
    this.#last.set(entry.hash, entry)
  }
}
