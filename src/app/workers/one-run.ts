/** One run at a time over an input file: two runs would send rows twice, before either has recorded them. */
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { MusterError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { isAlive } from '../../lib/is-alive.ts'

/** Throws MusterError while another process works on the file. The lock of a killed process is taken over. */
export async function alone<Result>(
  { file, shown }: { readonly file: string; readonly shown: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${file}.lock`
  const holder = `${hostname()} ${process.pid}\n`
  if (!isTaken(lock, holder)) return released(lock, work)
  if (isAbandoned(lock)) rmSync(lock, { force: true })
  if (!isTaken(lock, holder)) return released(lock, work)
  throw new MusterError({
    what: `another run is writing ${shown}`,
    next: `wait until it ends; if there is none, remove ${shown}.lock`,
  })
}

async function released<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock unless it is taken. A link is made in one step, so the lock never exists without its holder in it. */
function isTaken(lock: string, holder: string): boolean {
  const own = `${lock}.${process.pid}`
  try {
    writeFileSync(own, holder, { mode: 0o600 })
    linkSync(own, lock)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    throw new MusterError({
      what: `${lock} cannot be written`,
      next: 'check its folder and permissions',
      cause: error,
    })
  } finally {
    rmSync(own, { force: true })
  }
}

/** Whether the holder is a dead process of this machine; of other machines nothing is known. */
function isAbandoned(lock: string): boolean {
  const read = readInputText(lock, { mostBytes: 4096 })
  // It ended just now and removed its lock.
  if (typeof read !== 'string') return read.isMissing
  const [host, pid] = read.trim().split(' ')
  return host === hostname() && /^\d+$/.test(pid ?? '') && !isAlive(Number(pid))
}
