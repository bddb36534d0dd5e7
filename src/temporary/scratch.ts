/**
 * Temporary files. A process has at most one scratch folder in each folder in which it writes, so that a rename puts what it
 * made in place. The name says which process it is: the next command that uses the folder removes those of dead processes.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { dayMs, hourMs, minuteMs } from '../lib/dates.ts'
import { DiskFull, MusterError } from '../lib/errors.ts'
import { isAlive } from '../lib/is-alive.ts'

/** A new folder for its owner only. */
export interface Scratch {
  readonly path: string
  remove(): void
}

/** Whether a process of another machine runs cannot be seen from here; a living one touches its folders every hour. */
const maxForeignDays = 7
const minForeignMinutes = 10

function readProc<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    // No /proc, no such process, or another user's.
    return undefined
  }
}

/** Fields of /proc/PID/stat after the name of the program, which may hold spaces and brackets. */
const statOf = (pid: number | 'self'): readonly string[] | undefined =>
  readProc(() =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' '),
  )

/** Machines may share a host name, as may containers, each of which has a process 1. */
const places = [
  readProc(() => readFileSync('/etc/machine-id', 'utf8')),
  readProc(() => readlinkSync('/proc/self/ns/pid')),
]
const placeId = createHash('sha256').update(places.join()).digest('hex').slice(0, 8)

const machine = `${hostname().replace(/[^\w.-]/g, '_')}.${placeId}`

/** The start is in ticks since the machine's: a pid may be given to another process later. 0 without /proc. */
const ownName = `.muster-${machine}-${process.pid}-${statOf('self')?.[19] ?? '0'}`

const namePattern = /^\.muster-(?<host>.+\.[0-9a-f]{8})-(?<pid>\d+)-(?<started>\d+)$/

/** A zombie was killed, but its parent has not asked for its exit code yet. */
function isRunning(pid: number, started: string): boolean {
  const stat = statOf(pid)
  return stat ? stat[0] !== 'Z' && stat[19] === started : isAlive(pid)
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)

/** Cleaning up ends no command: another process may do the same, or the system refuse it; the next command tries again. */
function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

const replacedStem = 'replaced-'
const isReplaced = (entry: string): boolean => basename(entry).startsWith(replacedStem)

/** What was set aside to be replaced goes back, unless something has taken its place. */
function removeEntry(entry: string): void {
  // A link would lead to files that nobody set aside.
  if (isReplaced(entry) && lstatSync(entry, { throwIfNoEntry: false })?.isDirectory()) {
    const home = dirname(dirname(entry))
    for (const name of readdirSync(entry))
      if (!existsSync(join(home, name))) renameSync(join(entry, name), join(home, name))
  }
  rmSync(entry, { recursive: true, force: true })
}

function removeScratch(path: string): void {
  for (const name of readdirSync(path)) removeEntry(join(path, name))
  rmdirSync(path)
}

/** Of another machine: what it set aside goes back soon, as a folder is missing meanwhile; the two renames take no minute. */
function putBackForeign(path: string): void {
  for (const entry of readdirSync(path).map(name => join(path, name)))
    if (isReplaced(entry) && systemClock.now() - lstatSync(entry).mtimeMs > minForeignMinutes * minuteMs)
      removeEntry(entry)
}

/**
 * Removes what dead processes of this machine left in the folder, and what those of other machines have not touched for a week,
 * with a notice.
 */
export function sweep(folder: string, notice: (sentence: string) => void = () => undefined): void {
  let names: readonly string[] = []
  attempt(() => {
    names = readdirSync(folder)
  })
  for (const name of names) {
    const { host, pid, started = '' } = namePattern.exec(name)?.groups ?? {}
    if (host === undefined) continue
    const path = join(folder, name)
    attempt(() => {
      const found = lstatSync(path)
      if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return
      if (host === machine) {
        if (!isRunning(Number(pid), started)) removeScratch(path)
      } else if (systemClock.now() - found.mtimeMs > maxForeignDays * dayMs) {
        removeScratch(path)
        notice(`removed temporary files of another machine, untouched for ${maxForeignDays} days: ${path}`)
      } else putBackForeign(path)
    })
  }
}

/** Of this process: folders that were swept, and what is in its scratch folders. */
const swept = new Set<string>()
const ours = new Set<string>()

function removeOurs(entry: string): void {
  attempt(() => removeEntry(entry))
  ours.delete(entry)
  // Unless there is more in it.
  attempt(() => rmdirSync(dirname(entry)))
}

/** What was replaced does not go back any more. */
function removeReplaced(entry: string): void {
  const made = join(dirname(entry), `made-${basename(entry)}`)
  attempt(() => renameSync(entry, made))
  ours.delete(entry)
  removeOurs(made)
}

function touchAll(): void {
  const now = systemClock.now() / 1000
  for (const folder of new Set([...ours].map(dirname))) attempt(() => utimesSync(folder, now, now))
}

function watch(): void {
  setInterval(touchAll, hourMs).unref()
  // Also where a command ends in a way that its own code did not foresee.
  process.once('exit', () => {
    for (const entry of ours) removeOurs(entry)
  })
}

function scratchError(folder: string, cause: unknown): unknown {
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(cause)))
    return new DiskFull({
      what: 'the disk is full',
      where: folder,
      next: 'free some space and run the command again',
      cause,
    })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST'].includes(codeOf(cause)))
    return new MusterError({
      what: 'temporary files cannot be written',
      where: folder,
      next: 'check who may write there; nothing was changed',
      cause,
    })
  return cause
}

/** In this folder, so that what is made can be renamed into it. Throws MusterError where nothing can be written. */
export function makeScratch(folder: string, stem = 'made-'): Scratch {
  const home = resolve(folder)
  if (swept.size === 0) watch()
  if (!swept.has(home)) sweep(home)
  swept.add(home)
  try {
    mkdirSync(join(home, ownName), { recursive: true, mode: 0o700 })
    const path = mkdtempSync(join(home, ownName, stem))
    ours.add(path)
    return { path, remove: () => removeOurs(path) }
  } catch (error) {
    throw scratchError(home, error)
  }
}

/**
 * Puts the draft in the place of the folder, if there is one. A process that is killed between the two renames has set the
 * old one aside, and the next command puts it back. Of two processes that replace one folder, the later one's draft stays.
 */
export function replaceFolder(draft: string, folder: string): void {
  const aside = makeScratch(dirname(folder), replacedStem)
  const old = join(aside.path, basename(folder))
  try {
    for (let turn = 1; ; turn += 1) {
      try {
        if (existsSync(folder)) {
          rmSync(old, { recursive: true, force: true })
          renameSync(folder, old)
        }
        renameSync(draft, folder)
        removeReplaced(aside.path)
        return
      } catch (error) {
        if (['EBUSY', 'EXDEV'].includes(codeOf(error)))
          throw new MusterError({
            what: 'a mount point cannot be replaced',
            where: folder,
            next: 'name a folder in it',
            cause: error,
          })
        if (turn === 10 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
      }
    }
  } finally {
    aside.remove()
  }
}
