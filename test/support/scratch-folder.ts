/** Vitest's global setup: puts what the tests of a project leave behind into one folder, and removes it when they end. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'

/** Twice what a run leaves there until it ends, in bytes. */
const roomy = 8 * 2 ** 30

/** In memory where there is plenty of it: every commit waits for a disk otherwise, and a run writes 4 GB. */
function place(): string {
  if (process.env.TMPDIR || !existsSync(inMemory)) return tmpdir()
  const { bavail, bsize } = statfsSync(inMemory)
  return Math.min(bavail * bsize, freemem()) > roomy ? inMemory : tmpdir()
}

export default function setup(): () => void {
  const folder = mkdtempSync(join(place(), 'muster-tests-'))
  // A PostgreSQL started as root runs as another user, and has to get at its data in here.
  chmodSync(folder, 0o711)
  // Where os.tmpdir() looks, in the workers and in the programs that they start.
  for (const name of ['TMPDIR', 'TEMP']) process.env[name] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
