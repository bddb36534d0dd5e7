/** The built program as a process of its own that syncs into a PostgreSQL warehouse, and can be stopped and killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'

export const program = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

export interface SyncPlace {
  /** Of the sandbox. */
  readonly url: string
  readonly warehouse: string
  readonly landing: string
}

export interface SyncProcess {
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Code is null when it was killed. */
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>
}

export const environment = ({ url, warehouse, landing }: SyncPlace) => ({
  MUSTER_BASE_URL: url,
  MUSTER_API_KEY: sandboxKeys.company,
  MUSTER_WAREHOUSE: warehouse,
  MUSTER_LANDING: landing,
})

export function startSync(place: SyncPlace, ...words: readonly string[]): SyncProcess {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const child = spawn(process.execPath, [program, 'sync', '--quiet', ...words], {
    env: { ...process.env, ...environment(place) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', data => {
    err += data
  })
  return {
    signal: name => void child.kill(name),
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, err })),
  }
}
