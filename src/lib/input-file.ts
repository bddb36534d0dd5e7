/** Reads a file that a user names: only an ordinary one, at once, and no more of it than a bound. */
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

/** To read, and never to wait for somebody who writes into a pipe that has come into the place of a file. */
export const readAtOnce = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

export interface InputRules {
  readonly mostBytes: number
  /** The file must be below this folder, also when a link leads to it. */
  readonly inside?: string
}

/** `why` goes on after the name of the file. */
interface Unread {
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

const unread = (why: string, isMissing = false): Unread => ({ why, isMissing })

function kindProblem(stats: Stats, { mostBytes }: InputRules): Unread | undefined {
  if (stats.isDirectory()) return unread('is a folder')
  if (!stats.isFile()) return unread('is no regular file')
  if (stats.size > mostBytes) return unread(`has more than ${sizeOf(mostBytes)}`)
  return undefined
}

const sizeOf = (bytes: number): string =>
  bytes >= 1_048_576 ? `${Math.floor(bytes / 1_048_576)} MB (${bytes} bytes)` : `${bytes} bytes`

/** As many bytes as the file has; undefined when it has fewer or more, because it changes, or lies as those of /proc do. */
function wholeOf(opened: number, size: number): Buffer | undefined {
  const bytes = Buffer.alloc(size + 1)
  let length = 0
  for (let read = 1; read > 0 && length <= size; length += read)
    read = readSync(opened, bytes, length, bytes.length - length, length)
  return length === size ? bytes.subarray(0, size) : undefined
}

function readAllowed(file: string, rules: InputRules): Buffer | Unread {
  const real = realpathSync(file)
  if (
    rules.inside !== undefined &&
    !real.startsWith(realpathSync(rules.inside).replace(/[\\/]?$/, () => sep))
  )
    return unread('is outside the folder of the input file')
  // Before it is opened: to open some devices is to act on them.
  const problem = kindProblem(statSync(real), rules)
  if (problem) return problem
  const opened = openSync(real, readAtOnce)
  try {
    const stats = fstatSync(opened)
    const changed = kindProblem(stats, rules)
    return (
      changed ?? wholeOf(opened, stats.size) ?? unread('changed while it was read, or is no ordinary file')
    )
  } finally {
    closeSync(opened)
  }
}

/** The bytes, or why there are none. */
export function readInput(file: string, rules: InputRules): Buffer | Unread {
  try {
    return readAllowed(file, rules)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === '' || code.startsWith('ERR_')) throw error
    return unread(reasons[code] ?? `cannot be read (${code})`, code === 'ENOENT' || code === 'ENOTDIR')
  }
}

const bom = Buffer.from('\uFEFF')

/** What Excel calls Unicode text, and what PowerShell writes. */
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

/** The bytes of a text in UTF-8 or UTF-16, as UTF-8 without the bytes that some editors put before it (a BOM), or why there are none. */
export function readInputUtf8(file: string, rules: InputRules): Buffer | Unread {
  const bytes = readInput(file, rules)
  if (!Buffer.isBuffer(bytes)) return bytes
  if (isUtf16(bytes)) return fromUtf16(bytes) ?? unread('is not UTF-16, as its first bytes say')
  if (bytes.subarray(0, 2).includes(0)) return unread('is not UTF-8, but UTF-16 without its first bytes')
  if (!isUtf8(bytes)) return unread('is not UTF-8')
  const hasBom = bytes.subarray(0, bom.length).equals(bom)
  return hasBom ? bytes.subarray(bom.length) : bytes
}

/** The text of a file in UTF-8, or why there is none. */
export function readInputText(file: string, rules: InputRules): string | Unread {
  const bytes = readInputUtf8(file, rules)
  return Buffer.isBuffer(bytes) ? bytes.toString('utf8') : bytes
}

export const lineFeed = 10

/** The lines of a text in UTF-8, one after the other, without their ends. */
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
 * Links are followed; undefined for anything but a regular file, and for nothing. Opening a pipe would wait for somebody to write to
 * it, and no signal be heard meanwhile.
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

/** Of a path that a user names: `s3://bucket/acme` would become the folder `s3:` of the working folder. */
const address = /^([a-z][a-z0-9+.-]*):\/\//i

/** Why the text is no path of this machine, and what to do; undefined when it is one. */
export function whyNotLocal(text: string): string | undefined {
  const scheme = address.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return undefined
  return scheme === 'file'
    ? 'write the path itself, without file://'
    : `name a path of this machine: nothing reads or writes ${scheme}:// here; copy what was written there afterwards`
}

/**
 * For the functions of DuckDB that read files: they take `*`, `?` and `[` for patterns, and would read other files too. Beside
 * such a sign nothing stands for a backslash but any sign.
 */
export const asPattern = (path: string): string =>
  /[*?[]/.test(path) ? path.replace(/[*?[\\]/g, sign => (sign === '\\' ? '?' : `[${sign}]`)) : path
