/**
 * Manages temporary files. A process has at most one scratch folder in each folder that it writes to, so that a rename can move
 * results into place. Its name identifies the process, so the next command there can remove those of dead processes.
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

/** A new folder that only its owner can access. */
export interface Scratch {
  readonly path: string
  remove(): void
}

/** A process of another machine cannot be checked from here; a live one touches its folders every hour. */
const maxForeignDays = 7
const minForeignMinutes = 10

function readProc<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    // No /proc, no such process, or a process of another user.
    return undefined
  }
}

/** Fields of /proc/PID/stat after the name of the program, which may contain spaces and brackets. */
const statOf = (pid: number | 'self'): readonly string[] | undefined =>
  readProc(() =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' '),
  )

/** Identifies the machine: machines and containers may share a host name, and every container has a process 1. */
const places = [
  readProc(() => readFileSync('/etc/machine-id', 'utf8')),
  readProc(() => readlinkSync('/proc/self/ns/pid')),
]
const placeId = createHash('sha256').update(places.join()).digest('hex').slice(0, 8)

const machine = `${hostname().replace(/[^\w.-]/g, '_')}.${placeId}`

/** Ends with the start of the process in ticks since boot, as pids are reused; 0 without /proc. */
const ownName = `.muster-${machine}-${process.pid}-${statOf('self')?.[19] ?? '0'}`

const namePattern = /^\.muster-(?<host>.+\.[0-9a-f]{8})-(?<pid>\d+)-(?<started>\d+)$/

/** A zombie counts as dead: its parent has just not read its exit code yet. */
function isRunning(pid: number, started: string): boolean {
  const stat = statOf(pid)
  return stat ? stat[0] !== 'Z' && stat[19] === started : isAlive(pid)
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)

/** Ignores failures of cleaning up: another process may do the same, or the system may refuse; the next command retries. */
function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

const replacedStem = 'replaced-'
const isReplaced = (entry: string): boolean => basename(entry).startsWith(replacedStem)

/** Removes an entry. A folder set aside for replacement goes back, unless its place is taken. */
function removeEntry(entry: string): void {
  // Not for a link, which would lead to files that were never set aside.
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

/** Puts back folders that another machine set aside, after a minute: they are missing until then, and two renames take less. */
function putBackForeign(path: string): void {
  for (const entry of readdirSync(path).map(name => join(path, name)))
    if (isReplaced(entry) && systemClock.now() - lstatSync(entry).mtimeMs > minForeignMinutes * minuteMs)
      removeEntry(entry)
}

/**
 * Removes temporary files of this machine's dead processes from the folder, and those of other machines that were not touched
 * for a week, with a notice.
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

/** Folders swept by this process, and the entries of its scratch folders. */
const swept = new Set<string>()
const ours = new Set<string>()

function removeOurs(entry: string): void {
  attempt(() => removeEntry(entry))
  ours.delete(entry)
  // Removes its folder if it is empty.
  attempt(() => rmdirSync(dirname(entry)))
}

/** Removes the replaced folder, so that it is not put back. */
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
  // Also runs if a command ends unexpectedly.
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
      next: 'check the permissions of the folder; nothing was changed',
      cause,
    })
  return cause
}

/** Creates a scratch folder in `folder`, so that results can be renamed into it. Throws MusterError if it cannot be written. */
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
 * Replaces the folder, if it exists, with the draft. If the process is killed between the two renames, the next command puts
 * the old folder back. If two processes replace the same folder, the later draft stays.
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
