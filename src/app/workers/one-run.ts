/** One run at a time over an input file: two would both send what neither has written down yet. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { MusterError } from '../../lib/errors.ts'

/** Throws MusterError while another process works on the file. What a killed process left behind is taken over. */
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

/** The lock appears with its holder in it, or not at all: a link is made in one step. */
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
      next: 'see its folder and permissions',
      cause: error,
    })
  } finally {
    rmSync(own, { force: true })
  }
}

/** Only of this machine can it be said that a process is gone. */
function isAbandoned(lock: string): boolean {
  try {
    const [host, pid] = readFileSync(lock, 'utf8').trim().split(' ')
    if (host !== hostname() || !/^\d+$/.test(pid ?? '')) return false
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    // ENOENT: it ended just now.
    return ['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}
