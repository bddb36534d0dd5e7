/** Commands over one warehouse, day after day, and a sandbox whose quirks change between days. */
import { setImmediate } from 'node:timers/promises'
import { dayMs } from '../../src/lib/dates.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { FaultySandbox } from '../fault-layer/start.ts'
import { keptSandbox, type OpenOptions } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from './captured-world.ts'
import type { Bench } from './warehouse-fixture.ts'

const firstDay = Date.parse('2026-11-02T02:30:00.000Z')

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Requests that the command sent. */
  readonly requests: readonly string[]
}

export interface DailyRuns {
  readonly sandbox: FaultySandbox
  now(): number
  run(line: string): Promise<Ran>
  /** A day later. */
  nextDay(line: string): Promise<Ran>
  rows(query: string): Promise<Record<string, unknown>[]>
}

export async function openDailyRuns(bench: Bench, options: OpenOptions): Promise<DailyRuns> {
  const warehouse = await bench.warehouse()
  await warehouse.close()
  let now = firstDay
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      await setImmediate()
      now += ms
    },
  }
  const sandbox = await keptSandbox({ rateLimitPerMinute: 100_000, clock, quirks: {}, ...options })
  const cwd = temporaryFolder()
  const env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: warehouse.address,
  }
  const rng = seededRng(1)
  const run = async (line: string): Promise<Ran> => {
    now += 60_000
    const before = sandbox.requests.length
    const ran = await muster(line, { cwd, clock, rng, env })
    const requests = sandbox.requests
      .slice(before)
      .map(({ path, query }) => `${path} ${JSON.stringify(query)}`)
    return { ...ran, requests }
  }
  return {
    sandbox,
    now: () => now,
    run,
    nextDay: line => {
      now += dayMs
      return run(line)
    },
    async rows(query) {
      await warehouse.open()
      try {
        return await warehouse.engine.rows(query)
      } finally {
        await warehouse.close()
      }
    },
  }
}
