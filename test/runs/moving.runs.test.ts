/** DAG runs over a source on which people work: it changes while it is read, and while its figures are compared. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { database } from '../support/postgres-database.ts'

/** One record changes with every so many requests: a nightly sends some 300. */
const requestsPerChange = 12

test.each(['DuckDB', 'PostgreSQL'])(
  'on %s: two DAG runs succeed, and what was reported is published',
  { timeout: 600_000 },
  async engine => {
    const rng = seededRng(7)
    let requests = 0
    const sandbox = await keptSandbox({
      scale: 0.04,
      rateLimitPerMinute: 100_000,
      onRequest: () => {
        requests += 1
        if (requests % requestsPerChange === 0)
          mutateWorld(sandbox.world, { rng, nowMs: Date.now(), count: 1, deletions: true })
      },
    })
    const made = engine === 'PostgreSQL' ? await database() : undefined
    try {
      const place = { cwd: temporaryFolder(), clock: systemClock, rng: seededRng(1) }
      const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
      for (const run of [1, 2]) {
        const { code, out } = await muster('dag run nightly --json --quiet', {
          ...place,
          env: { ...env, MUSTER_WAREHOUSE: made?.url ?? 'duckdb:w.duckdb' },
        })
        const { tasks } = JSON.parse(out) as { tasks: { task: string; state: string }[] }
        const not = tasks.filter(({ state }) => state !== 'done')
        expect({ run, code, not }).toEqual({ run, code: 0, not: [] })
        mutateWorld(sandbox.world, { rng, nowMs: Date.now(), count: 20, deletions: true })
      }
    } finally {
      await made?.drop()
    }
  },
)
