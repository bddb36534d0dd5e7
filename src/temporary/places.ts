/**
 * Temporary files and folders. Each is registered before it is made, so that a process that is killed leaves nothing behind
 * for good: the next command that starts removes what has lost its owner.
 */
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { minuteMs } from '../lib/dates.ts'
import { DiskFull, MusterError } from '../lib/errors.ts'
import { ourselves } from './owner.ts'

export interface TemporaryPlace {
  /** Nothing is there yet. Names beside it that begin with the same text belong to it, such as the log of a database. */
  readonly path: string
  /** Removes what is there. */
  remove(): void
  /** To be called after it was renamed to where it stays. */
  keep(): void
}

/** Beside the data, where every machine that works on the data finds it. */
export const registryName = '.muster-temporary'

let root: string | undefined

/** Without this, each place is registered in the folder that it lies in. */
export function keepRegistryIn(folder: string): void {
  root = folder
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)

/** Everything of a place: its own name is in no other one. */
export function removePlace(path: string): void {
  const [folder, name] = [dirname(path), basename(path)]
  if (!existsSync(folder)) return
  for (const one of readdirSync(folder).filter(one => one.startsWith(name)))
    rmSync(join(folder, one), { recursive: true, force: true })
}

/** Ends the stem of a place for what stood where something else is being put. */
export const replacedEnd = 'replaced'

/** Back to where it stood, when nothing has taken its place. */
export function putBack(path: string): void {
  const stood = new RegExp(`^(.+)\\.${replacedEnd}-[0-9a-f]{12}$`).exec(path)?.[1]
  if (stood !== undefined && existsSync(path) && !existsSync(stood)) renameSync(path, stood)
}

/** Entries that this process has written, by the path of their places. */
const ours = new Map<string, string>()

function registerError(folder: string, cause: unknown): unknown {
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(cause)))
    return new DiskFull({
      what: 'the disk is full',
      where: folder,
      next: 'free some space and run the command again',
      cause,
    })
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(codeOf(cause)))
    return new MusterError({
      what: 'temporary files cannot be registered',
      where: folder,
      next: 'check who may write there; nothing was changed',
      cause,
    })
  return cause
}

function write(folder: string, name: string, text: string): string {
  const registry = join(folder, registryName)
  const file = join(registry, name)
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(registry, { recursive: true, mode: 0o700 })
      writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
      return file
    } catch (error) {
      // Another process removed the registry because it was empty.
      if (codeOf(error) !== 'ENOENT' || attempt === 5) throw registerError(registry, error)
    }
  }
}

/** Where the registry cannot be written, such as a working folder that belongs to another user: beside the place. */
function register(path: string, name: string, text: string): string {
  const beside = dirname(path)
  if (root === undefined || root === beside) return write(beside, name, text)
  try {
    return write(root, name, text)
  } catch (error) {
    if (!(error instanceof MusterError) || error instanceof DiskFull) throw error
    return write(beside, name, text)
  }
}

export function removeEntry(file: string): void {
  rmSync(file, { force: true })
  try {
    rmdirSync(dirname(file))
  } catch (error) {
    // Others are registered there, or it is gone already.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) throw error
  }
}

/** A process elsewhere cannot see whether this one runs, but it sees that its entries are touched. */
function touchAll(): void {
  const now = systemClock.now() / 1000
  for (const file of ours.values()) {
    try {
      utimesSync(file, now, now)
    } catch (error) {
      // The whole folder was removed.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
}

/** Also where a command ends in a way that its own code did not foresee. */
function removeAll(): void {
  for (const [path, file] of [...ours]) {
    putBack(path)
    removePlace(path)
    removeEntry(file)
  }
}

let isWatching = false

function watch(): void {
  if (isWatching) return
  isWatching = true
  setInterval(touchAll, 10 * minuteMs).unref()
  process.once('exit', removeAll)
}

/**
 * Names a new place: `stem`, and letters that no other place has. Everything temporary that this program writes lies at such
 * a place, or in one. `purpose` is for people who find it. Throws MusterError where nothing can be registered.
 */
export function temporaryPlace(stem: string, purpose: string): TemporaryPlace {
  const id = randomBytes(6).toString('hex')
  const path = `${resolve(stem)}-${id}`
  const entry = JSON.stringify({ path, purpose, owner: ourselves() })
  const file = register(path, `${id}.json`, entry)
  ours.set(path, file)
  watch()
  const keep = (): void => {
    ours.delete(path)
    removeEntry(file)
  }
  return {
    path,
    keep,
    remove() {
      removePlace(path)
      keep()
    },
  }
}

/** A place that is a folder, for its owner only. */
export function temporaryFolder(stem: string, purpose: string): TemporaryPlace {
  const place = temporaryPlace(stem, purpose)
  mkdirSync(place.path, { recursive: true, mode: 0o700 })
  return place
}
