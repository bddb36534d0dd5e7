/**
 * The time left of real first syncs and nights under a limit, over HTTP and into a file, at every fifth of a second: beside the time
 * that was really left by a clock that a busy machine does not slow down.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atStart, withBudget, withEvent } from '../../src/cli/terminal/progress-state.ts'
import { timeLeft } from '../../src/cli/terminal/time-left.ts'
import { dayMs } from '../../src/lib/dates.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { ResourceEvent } from '../../src/sync/run/context.ts'
import { runSync } from '../../src/sync/run/run.ts'
import type { BudgetFigures } from '../../src/sync/run/run-connection.ts'
import { openDuckdb } from '../../src/warehouse/on-demand.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { temporaryFolder } from './captured-world.ts'
import { workClock } from './work-clock.ts'

const lookMs = 200

type Told = { readonly event: ResourceEvent } | { readonly budget: BudgetFigures }
type Log = readonly (Told & { readonly atMs: number })[]

interface Target {
  readonly baseUrl: string
  readonly cwd: string
  readonly clock: ReturnType<typeof workClock>
}

async function logOf({ baseUrl, cwd, clock }: Target) {
  const startedMs = clock.now()
  const log: (Told & { atMs: number })[] = []
  const engine = await openDuckdb(join(cwd, 'w.duckdb'))
  const connection = { baseUrl, apiKey: sandboxKeys.company, landing: join(cwd, 'landing') }
  const { failure } = await runSync(
    { ...connection, retentionDays: 30, lookbackMinutes: 5, pageCapBytes: 50_000_000 },
    { command: 'sync', arguments: '', resources: [], limits: {} },
    {
      engine,
      clock,
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: '0',
      emit: event => log.push({ atMs: clock.now(), event }),
      onBudget: budget => log.push({ atMs: clock.now(), budget }),
    },
  )
  await engine.close()
  expect(failure).toBeUndefined()
  return { log, startedMs, tookMs: clock.now() - startedMs }
}

/** What was shown from a third of the run on. */
function shownOf({ log, startedMs, tookMs }: { log: Log; startedMs: number; tookMs: number }) {
  let state = atStart(startedMs)
  let next = 0
  const shown: { atMs: number; leftMs: number | undefined; isLeast: boolean; reallyMs: number }[] = []
  for (let atMs = 0; atMs < tookMs; atMs += lookMs) {
    for (let one = log[next]; one && one.atMs <= startedMs + atMs; next += 1, one = log[next])
      state = 'event' in one ? withEvent(state, one.event, one.atMs) : withBudget(state, one.budget, one.atMs)
    const { ms: leftMs, isLeast = false } = timeLeft(state, atMs) ?? { ms: undefined }
    if (atMs >= tookMs / 3) shown.push({ atMs, leftMs, isLeast, reallyMs: tookMs - atMs })
  }
  return shown
}

/**
 * Of what was left; when little is, of seconds: the end of a run writes the file and archives the pages of nights before, in 1 to 4 s
 * that nothing before it tells.
 */
const allowedMs = (reallyMs: number): number => Math.max(0.3 * reallyMs, 5_000)

const limits = [
  [20, 0.02],
  [40, 0.05],
  [60, 0.05],
  [120, 0.2],
  [300, 0.4],
] as const

test.each(limits)(
  'is within 30% from a third on, at %i requests a minute',
  async (rateLimitPerMinute, scale) => {
    const clock = workClock()
    const sandbox = await keptSandbox({ seed: 1, scale, clock, rateLimitPerMinute })
    const target = { baseUrl: sandbox.url, cwd: temporaryFolder(), clock }
    for (const night of [0, 1, 2]) {
      if (night > 0) {
        clock.move(dayMs)
        mutateWorld(sandbox.world, { rng: seededRng(night), nowMs: clock.now(), count: 400 })
      }
      const run = await logOf(target)
      const shown = shownOf(run)
      const about = shown.filter(({ leftMs, isLeast }) => leftMs !== undefined && !isLeast)
      const off = about.filter(
        ({ leftMs = 0, reallyMs }) => Math.abs(leftMs - reallyMs) > allowedMs(reallyMs),
      )
      const tooLong = shown.filter(
        ({ leftMs = 0, isLeast, reallyMs }) => isLeast && leftMs > reallyMs + allowedMs(reallyMs),
      )
      const told = { night, seconds: Math.round(run.tookMs / 1_000), of: about.length }
      console.info(`${rateLimitPerMinute} a minute`, { ...told, looks: shown.length, off: off.length })
      expect({ ...told, off: off.slice(0, 10) }).toEqual({ ...told, off: [] })
      expect(tooLong).toEqual([])
      // For the most part it is an estimate, neither a least time nor nothing.
      if (night === 0) expect(run.tookMs).toBeGreaterThan(50_000)
      expect(about.length / shown.length).toBeGreaterThan(0.6)
    }
    await sandbox.close()
  },
)
