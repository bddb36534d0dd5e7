/** Reads input from a user, up to a size limit: a regular file, without blocking, or a stream such as stdin. */

import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { sep } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { UsageError } from './errors.ts'

/** Flags for reading that never block, even if a pipe has replaced the file. */
export const readAtOnce = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

interface InputRules {
  readonly maxBytes: number
  /** The file must be inside this folder, after following links. */
  readonly inside?: string
}

/** `why` continues a sentence that begins with the name of the file. */
interface UnreadFile {
  readonly why: string
  readonly isMissing: boolean
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  EACCES: 'is not yours to read',
  EPERM: 'is not yours to read',
  ELOOP: 'is a link that leads to itself',
  ENAMETOOLONG: 'has a name that is too long',
}

const unread = (why: string, isMissing = false): UnreadFile => ({ why, isMissing })

function kindProblem(stats: Stats, { maxBytes }: InputRules): UnreadFile | undefined {
  if (stats.isDirectory()) return unread('is a folder')
  if (!stats.isFile()) return unread('is not a regular file')
  if (stats.size > maxBytes) return unread(`has more than ${sizeOf(maxBytes)}`)
  return undefined
}

const sizeOf = (bytes: number): string =>
  bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MB (${bytes} bytes)` : `${bytes} bytes`

/** Reads exactly `size` bytes; undefined if the file has fewer or more: it changes, or misreports its size as /proc does. */
function readExactly(opened: number, size: number): Buffer | undefined {
  const bytes = Buffer.alloc(size + 1)
  let length = 0
  for (let read = 1; read > 0 && length <= size; length += read)
    read = readSync(opened, bytes, length, bytes.length - length, length)
  return length === size ? bytes.subarray(0, size) : undefined
}

function readAllowed(file: string, rules: InputRules): Buffer | UnreadFile {
  const real = realpathSync(file)
  if (
    rules.inside !== undefined &&
    !real.startsWith(realpathSync(rules.inside).replace(/[\\/]?$/, () => sep))
  )
    return unread('is outside the folder of the input file')
  // Checked before opening, as opening some devices has an effect.
  const problem = kindProblem(statSync(real), rules)
  if (problem) return problem
  const opened = openSync(real, readAtOnce)
  try {
    const stats = fstatSync(opened)
    const changed = kindProblem(stats, rules)
    return (
      changed ??
      readExactly(opened, stats.size) ??
      unread('changed while it was read, or is not a regular file')
    )
  } finally {
    closeSync(opened)
  }
}

/** Returns the bytes, or why the file cannot be read. */
export function readInput(file: string, rules: InputRules): Buffer | UnreadFile {
  try {
    return readAllowed(file, rules)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === '' || code.startsWith('ERR_')) throw error
    return unread(reasons[code] ?? `cannot be read (${code})`, code === 'ENOENT' || code === 'ENOTDIR')
  }
}

const bom = Buffer.from('\uFEFF')

/** UTF-16, which Excel calls Unicode text and PowerShell writes. */
const utf16 = new Map([
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
])

const isUtf16 = (bytes: Buffer): boolean => utf16.has(bytes.toString('hex', 0, 2))

function fromUtf16(bytes: Buffer): Buffer | undefined {
  try {
    const decoder = new TextDecoder(utf16.get(bytes.toString('hex', 0, 2)), { fatal: true })
    return Buffer.from(decoder.decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Returns a text in UTF-8 or UTF-16 as UTF-8 bytes without a BOM, or why it cannot be read. */
export function readInputUtf8(file: string, rules: InputRules): Buffer | UnreadFile {
  const bytes = readInput(file, rules)
  if (!Buffer.isBuffer(bytes)) return bytes
  if (isUtf16(bytes))
    return fromUtf16(bytes) ?? unread('is not valid UTF-16, although it begins with a UTF-16 BOM')
  if (bytes.subarray(0, 2).includes(0)) return unread('is not UTF-8; it looks like UTF-16 without a BOM')
  if (!isUtf8(bytes)) return unread('is not UTF-8')
  const hasBom = bytes.subarray(0, bom.length).equals(bom)
  return hasBom ? bytes.subarray(bom.length) : bytes
}

/** Returns the text of a file in UTF-8, or why it cannot be read. */
export function readInputText(file: string, rules: InputRules): string | UnreadFile {
  const bytes = readInputUtf8(file, rules)
  return Buffer.isBuffer(bytes) ? bytes.toString('utf8') : bytes
}

export const lineFeed = 10

/** Yields the lines of a UTF-8 text, without line ends. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from)
    const end = found === -1 ? bytes.length : found
    yield bytes.subarray(from, end)
    from = end + 1
  }
}

const absent = ['ENOENT', 'ENOTDIR', 'ELOOP']

/**
 * Follows links; undefined for a missing file or anything but a regular file. Opening a pipe would block until another process
 * writes to it, and signals would be ignored until then.
 */
export function regularFile(path: string): Stats | undefined {
  try {
    const found = statSync(path)
    return found.isFile() ? found : undefined
  } catch (error) {
    if (absent.includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}

/** Matches addresses given as paths: `s3://bucket/acme` would become a folder `s3:` in the working folder. */
const address = /^([a-z][a-z0-9+.-]*):\/\//i

/** Says why the text is not a path on this machine, and what to do; undefined if it is one. */
export function whyNotLocal(text: string): string | undefined {
  const scheme = address.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return undefined
  return scheme === 'file'
    ? 'write the path itself, without file://'
    : `name a path on this machine, as ${scheme}:// is not supported here; copy the files afterwards`
}

/**
 * Escapes a path for DuckDB's functions that read files: they treat `*`, `?` and `[` as patterns, and would read other files
 * too. In a pattern a backslash cannot be escaped, so `?` replaces it.
 */
export const asPattern = (path: string): string =>
  /[*?[]/.test(path) ? path.replace(/[*?[\\]/g, sign => (sign === '\\' ? '?' : `[${sign}]`)) : path

interface StreamRules {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

async function bytesOf(stream: Readable, { maxBytes, signal }: StreamRules): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of addAbortSignal(signal, stream)) {
    chunks.push(Buffer.from(chunk))
    bytes += Buffer.byteLength(chunk)
    if (bytes > maxBytes) throw new UsageError({ what: `stdin has more than ${maxBytes} bytes` })
  }
  return Buffer.concat(chunks)
}

/** Reads UTF-8 text until the end or until the signal aborts. Throws UsageError, or the reason of the signal. */
export async function readStreamText(stream: Readable, rules: StreamRules): Promise<string> {
  const bytes = await bytesOf(stream, rules).catch(error => {
    rules.signal.throwIfAborted()
    throw error
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // A fatal decoder throws only for invalid UTF-8.
    throw new UsageError({ what: 'stdin is not UTF-8' })
  }
}
