/** Syncs against a service that fails: what they leave behind, and that one good sync makes it right. */
import { expect } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { World, WorldRecords } from '../../src/sandbox/world.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import { type FaultRates, faultNames } from '../fault-layer/faults.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Dump, tables } from '../support/warehouse-dump.ts'
import { type Bench, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'

/** Lists of several pages: two that are scanned, and one that is read whole. */
const records: WorldRecords = {
  ...plainRecords({ timesheets: 430, invoices: 230 }),
  accessRuleMappings: Array.from({ length: 210 }, (_, n) => ({
    id: `m${n}`,
    a: `role${n % 7}`,
    can: `act${n}`,
    type: 'RBAC',
  })),
}
const resources = ['key', 'timesheets', 'invoices', 'access-rules']

/** Waiting moves it on at once, for the client and for the service alike. */
export function leapingClock(): Clock {
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
  return Object.fromEntries(all.filter(([name]) => !/^history\.|_history$/.test(name)))
}

function expectOneLine(outcome: RunResult): void {
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

/** What a fresh warehouse holds after one sync from a service that works. */
async function undisturbed(bench: Bench, sandbox: { readonly url: string }): Promise<Dump> {
  const fresh = await bench.warehouse()
  await syncOnce(sandbox, fresh, { request: { resources } })
  const dump = await current(fresh)
  await fresh.close()
  return dump
}

/** The same for all proofs in which nothing changes at the source. */
let unchanged: Promise<Dump> | undefined

/** Times go on where the records' own end. */
function change(world: World, at: { run: number; changes: number; rng: Rng }): void {
  for (let done = 0; done < at.changes; done += 1) {
    const name = done % 2 === 0 ? ('timesheets' as const) : ('invoices' as const)
    const updatedAt = timeOf(1000 * at.run + done)
    const record = at.rng() < 0.2 ? undefined : world.at(name, at.rng())
    const fresh = { ...plainMakers[name](1000 * at.run + done), createdAt: updatedAt }
    world.upsert(name, { ...(record ?? fresh), status: `changed ${at.run}`, updatedAt })
  }
}

/** Throws when the warehouse is not what a faultless service would have made it, or the way there broke a rule. */
export async function proveRecovery(bench: Bench, weather: Weather): Promise<Proof> {
  const { faults, seed, runs, changes = 0 } = weather
  const clock = leapingClock()
  const sandbox = await openSandbox({
    records,
    rateLimitPerDay: 10_000_000,
    clock,
    faults,
    faultSeed: seed,
  })
  const warehouse = await bench.warehouse()
  const timeouts = { headersTimeout: 1000, bodyTimeout: 1000, totalTimeout: 1000 }
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
    // A run that was told to wait ends, and the next one does not know: whoever starts it comes later.
    await clock.sleep(60_000)
    change(sandbox.world, { run, changes, rng: effects.rng })
  }
  sandbox.faults.stop()
  const last = await syncOnce(sandbox, warehouse, { request: { resources }, effects })
  expect({ weather, failure: last.failure }).toEqual({ weather, failure: undefined })
  await expectFewRetries(warehouse)
  const held = await current(warehouse)
  if (changes === 0) unchanged ??= undisturbed(bench, sandbox)
  const wanted = await (changes === 0 && unchanged ? unchanged : undisturbed(bench, sandbox))
  expect({ weather, tables: Object.keys(held).sort() }).toEqual({
    weather,
    tables: Object.keys(wanted).sort(),
  })
  for (const [name, rows] of Object.entries(wanted))
    expect({ weather, name, rows: held[name] }).toEqual({ weather, name, rows })
  const hits = new Map<string, number>()
  for (const { fault } of sandbox.requests) if (fault) hits.set(fault, (hits.get(fault) ?? 0) + 1)
  await Promise.all([warehouse.close(), sandbox.close()])
  return { hits, failedRuns }
}

/** Some faults often, some seldom, many not at all: as the seed draws. */
export function mixedFaults(seed: number): FaultRates {
  const rng = namedRng(seed, 'mixed faults')
  const chosen = faultNames.filter(() => rng() < 0.4)
  return Object.fromEntries(chosen.map(name => [name, rng() < 0.3 ? 0.15 : 0.03]))
}
