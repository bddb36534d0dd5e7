/** A small sandbox and the settings of a connection to it, for commands that need a warehouse. */
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { keptSandbox, type OpenOptions } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from './captured-world.ts'
import { templateFile } from './warehouse-fixture.ts'

/** The night after the day on which the sandbox's data ends. */
const night = Date.parse('2026-11-02T02:30:00.000Z')

/** Stands still while a command runs; the next one begins a minute later. */
function nightClock(): Clock & { next(): void } {
  let now = night
  return {
    now: () => now,
    sleep: async () => undefined,
    next: () => {
      now += 60_000
    },
  }
}

export interface Place {
  readonly sandbox: Sandbox
  readonly cwd: string
  readonly file: string
  readonly published: string
  /** Runs a command line in the folder. */
  command(line: string, env?: Record<string, string>): ReturnType<typeof muster>
}

export interface PlaceOptions extends OpenOptions {
  readonly kind?: 'company' | 'agency'
}

export async function openPlace({ kind = 'company', ...options }: PlaceOptions = {}): Promise<Place> {
  const clock = nightClock()
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000, ...options })
  const cwd = temporaryFolder()
  const file = join(cwd, 'w.duckdb')
  const rng = seededRng(1)
  const env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: kind === 'agency' ? sandboxKeys.agency : sandboxKeys.company,
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  }
  return {
    sandbox,
    cwd,
    file,
    published: join(cwd, 'w.published.duckdb'),
    command: async (line, more = {}) => {
      clock.next()
      // Migrated before, which a sync would take 1.2 s for.
      if (line.startsWith('sync') && !existsSync(file)) copyFileSync(await templateFile(), file)
      return muster(line, { cwd, clock, rng, env: { ...env, ...more } })
    },
  }
}
