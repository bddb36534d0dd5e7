/** Syncs against a service that fails: what they leave behind, and that one good sync makes it right. */
import { expect } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { namedRng, seededRng } from '../../src/lib/rng.ts'
import { type FaultName, type FaultRates, faultTable } from '../../src/sandbox/faults/faults.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { RunOutcome } from '../../src/sync/run.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, type Dump, syncOnce, tables, type Warehouse } from '../warehouse/fixture.ts'

export const faultNames = Object.keys(faultTable) as FaultName[]

const today = Date.UTC(2026, 10, 3)
const world = { scale: 0.06, rateLimitPerDay: 10_000_000 }
const resources = ['key', 'companies', 'users', 'timesheets', 'invoices', 'access-rules', 'competency-matrix']

/** Waiting moves it on at once, for the client and for the service alike. */
function leapingClock(): Clock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    sleep: async ms => {
      offset += ms
    },
  }
}

/** Without the versions that were superseded on the way, which a warehouse filled at once does not have. */
export async function current({ engine }: Warehouse): Promise<Dump> {
  const all = Object.entries(await tables(engine))
  return Object.fromEntries(all.filter(([name]) => !name.startsWith('history.')))
}

function expectOneLine(outcome: RunOutcome): void {
  const words = [outcome.failure?.message, ...outcome.resources.map(({ note }) => note)]
  for (const text of words) if (text) expect(text).toMatch(/^[^\p{Cc}]{1,600}$/u)
}

async function expectFewRetries({ engine }: Warehouse): Promise<void> {
  const runs = await engine.rows<{ requests: number; retries: number }>(
    'select requests, retries from ops.run',
  )
  for (const { requests, retries } of runs)
    expect(Number(retries)).toBeLessThanOrEqual(Math.max(10, Number(requests) * 0.1))
}

export interface Weather {
  readonly faults: FaultRates
  readonly seed: number
  /** Runs while answers are spoiled, with changes at the source between them. */
  readonly runs: number
  readonly changes?: number
}

export interface Proof {
  /** How often each fault spoiled an answer. */
  readonly hits: ReadonlyMap<string, number>
  readonly failedRuns: number
}

/** Throws when the warehouse is not what a faultless service would have made it, or the way there broke a rule. */
export async function proveRecovery(bench: Bench, weather: Weather): Promise<Proof> {
  const { faults, seed, runs, changes = 0 } = weather
  const clock = leapingClock()
  const sandbox = await openSandbox({ ...world, clock, faults, faultSeed: seed })
  const warehouse = await bench.warehouse()
  const timeouts = { headersTimeout: 150, bodyTimeout: 150, totalTimeout: 250 }
  const effects = { clock, rng: namedRng(seed, 'jitter') }
  let failedRuns = 0
  for (let run = 1; run <= runs; run += 1) {
    const outcome = await syncOnce(sandbox, warehouse, {
      connection: { timeouts },
      request: { resources },
      effects,
    })
    expectOneLine(outcome)
    if (outcome.failure) failedRuns += 1
    if (changes > 0) mutateWorld(sandbox.world, { rng: seededRng(seed + run), nowMs: today, count: changes })
  }
  sandbox.faults.stop()
  // A storm may have told everybody to stay away for a while.
  await clock.sleep(60_000)
  const last = await syncOnce(sandbox, warehouse, { request: { resources }, effects })
  expect({ weather, failure: last.failure }).toEqual({ weather, failure: undefined })
  await expectFewRetries(warehouse)
  const fresh = await bench.warehouse()
  await syncOnce(sandbox, fresh, { request: { resources }, effects })
  const [held, wanted] = [await current(warehouse), await current(fresh)]
  expect({ weather, tables: Object.keys(held).sort() }).toEqual({
    weather,
    tables: Object.keys(wanted).sort(),
  })
  for (const [name, rows] of Object.entries(wanted))
    expect({ weather, name, rows: held[name] }).toEqual({ weather, name, rows })
  const hits = new Map<string, number>()
  for (const { fault } of sandbox.requests) if (fault) hits.set(fault, (hits.get(fault) ?? 0) + 1)
  await Promise.all([warehouse.close(), fresh.close(), sandbox.close()])
  return { hits, failedRuns }
}

/** Some faults often, some seldom, many not at all: as the seed draws. */
export function mixedFaults(seed: number): FaultRates {
  const rng = namedRng(seed, 'mixed faults')
  const chosen = faultNames.filter(() => rng() < 0.4)
  return Object.fromEntries(chosen.map(name => [name, rng() < 0.3 ? 0.15 : 0.03]))
}
