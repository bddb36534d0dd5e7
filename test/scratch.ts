/** Vitest's global setup: what tests leave behind lies in one folder, which goes when the run ends. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'muster-tests-'))
  // A PostgreSQL started as root runs as another user, and has to get at its data in here.
  chmodSync(folder, 0o711)
  // Where os.tmpdir() looks, in the workers and in the programs that they start.
  for (const name of ['TMPDIR', 'TEMP']) process.env[name] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
