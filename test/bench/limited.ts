/**
 * A first load under a limit of requests a minute, beside the least that this limit allows: of a window of 60 s that rolls,
 * the first requests may come at once, and each further one 60 s after the one a limit before it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { startSandbox } from './own-sandbox.ts'
import { root } from './root.ts'
import { run } from './sync-run.ts'

export interface LimitedOptions {
  readonly perMinute: number
  /** 1 is 5,000 timesheets, of which a page holds 200. */
  readonly scale: number
}

interface Outcome {
  readonly requests: number
  readonly milliseconds: number
}

export async function benchLimited({ perMinute, scale }: LimitedOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-limited-'))
  const sandbox = await startSandbox(['--limit-per-minute', String(perMinute), '--scale', String(scale)])
  try {
    const { stdout } = await run(
      process.execPath,
      [join(root, 'dist/main.js'), 'sync', 'timesheets', '--json'],
      {
        cwd: folder,
        env: {
          ...process.env,
          MUSTER_BASE_URL: sandbox.url,
          MUSTER_API_KEY: sandboxKeys.company,
          MUSTER_WAREHOUSE: `duckdb:${join(folder, 'limited.duckdb')}`,
        },
      },
    )
    const { requests, milliseconds } = JSON.parse(stdout) as Outcome
    const least = Math.floor((requests - 1) / perMinute) * 60
    const taken = milliseconds / 1000
    console.log(
      `${requests} requests, ${perMinute} a minute: ${taken.toFixed(1)} s; the limit alone ${least} s, ratio ${(taken / least).toFixed(3)}`,
    )
  } finally {
    sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
