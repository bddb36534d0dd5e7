/**
 * What a landing says of itself, so that what is damaged or missing later can be told: a line for each page of a scan with
 * its size and checksum, beside its pages, and a line for each scan beside the scans.
 */
import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { regularFile } from '../lib/input-file.ts'

export const pagesJournal = 'pages.jsonl'
export const scansJournal = 'scans.jsonl'

export interface FileSum {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

export const pagesJournalOf = (scan: string): string => `${scan}/${pagesJournal}`

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The last line of a name counts. */
interface Line {
  readonly name: string
  /** Missing where the file was taken away on purpose. */
  readonly bytes?: number
  readonly sha256?: string
}

/** A pipe that nobody reads fails instead of waiting. */
const appends = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

/** A line begins with its line feed, so that one which a process that died has cut off stays by itself. */
function write(file: string, line: Line): void {
  const opened = openSync(file, appends, 0o600)
  try {
    writeSync(opened, `\n${JSON.stringify(line)}`)
  } finally {
    closeSync(opened)
  }
}

/** Appends to the journal that the file is. */
export const writeSum = (file: string, { name, bytes, sha256 }: FileSum): void =>
  write(file, { name, bytes, sha256 })

/** The same of what was taken away on purpose. */
export const writeGone = (file: string, name: string): void => write(file, { name })

export const sumOf = (name: string, bytes: Buffer): FileSum => ({
  name,
  bytes: bytes.length,
  sha256: sha256(bytes),
})

/** A scan has no sum: its own journal has those of its pages. */
export const scanSum = (scan: string): FileSum => ({ name: scan, bytes: 0, sha256: '' })

export interface Journal {
  /** By name. */
  readonly kept: ReadonlyMap<string, FileSum>
  /** Whether lines of it cannot be read. */
  readonly isDamaged: boolean
}

function parsed(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line | null
    return typeof line?.name === 'string' ? line : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const begin = '{"name":"'

/** A line of a process that died: what it is about was not recorded. */
const isCutOff = (text: string): boolean =>
  begin.startsWith(text) || (text.startsWith(begin) && !text.endsWith('}'))

export function journalOf(content: string): Journal {
  const kept = new Map<string, FileSum>()
  const texts = content.split('\n').filter(Boolean)
  let isDamaged = texts.length === 0
  for (const text of texts) {
    const line = parsed(text)
    if (!line) isDamaged ||= !isCutOff(text)
    else if (line.bytes === undefined || line.sha256 === undefined) kept.delete(line.name)
    else kept.set(line.name, { name: line.name, bytes: line.bytes, sha256: line.sha256 })
  }
  return { kept, isDamaged }
}

/** Undefined when there is none; one that is no file is damaged. */
export function readJournal(file: string): Journal | undefined {
  if (!lstatSync(file, { throwIfNoEntry: false })) return undefined
  return journalOf(regularFile(file) ? readFileSync(file, 'utf8') : '')
}
