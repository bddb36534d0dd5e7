/**
 * What a landing says of itself, so that what is damaged or missing later can be told: a line for each page of a scan with
 * its size and checksum, beside its pages, and a line for each scan beside the scans.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const pagesJournal = 'pages.jsonl'
export const scansJournal = 'scans.jsonl'

export interface FileSum {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The last line of a name counts. */
interface Line {
  readonly name: string
  /** Missing where the file was taken away on purpose. */
  readonly bytes?: number
  readonly sha256?: string
}

/** A line begins with its line feed, so that one which a process that died has cut off stays by itself. */
const write = (file: string, line: Line): void =>
  appendFileSync(file, `\n${JSON.stringify(line)}`, { mode: 0o600 })

/** To be called when the file is there: a process that dies in between leaves a file that no line names. */
export const recordFile = (folder: string, name: string, bytes: Buffer): void =>
  write(join(folder, pagesJournal), { name, bytes: bytes.length, sha256: sha256(bytes) })

/** To be called before the file goes. */
export const recordGone = (folder: string, name: string): void => write(join(folder, pagesJournal), { name })

export const recordScan = (root: string, scan: string): void =>
  write(join(root, scansJournal), { name: scan, bytes: 0, sha256: '' })

/** To be called before its folder or archive goes. */
export const recordScanGone = (root: string, scan: string): void =>
  write(join(root, scansJournal), { name: scan })

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

/** Undefined when there is none. */
function readJournal(file: string): Journal | undefined {
  if (!existsSync(file)) return undefined
  const kept = new Map<string, FileSum>()
  const texts = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  let isDamaged = texts.length === 0
  for (const text of texts) {
    const line = parsed(text)
    if (!line) isDamaged ||= !isCutOff(text)
    else if (line.bytes === undefined || line.sha256 === undefined) kept.delete(line.name)
    else kept.set(line.name, { name: line.name, bytes: line.bytes, sha256: line.sha256 })
  }
  return { kept, isDamaged }
}

export const pagesOf = (folder: string): Journal | undefined => readJournal(join(folder, pagesJournal))
export const scansOf = (root: string): Journal | undefined => readJournal(join(root, scansJournal))
