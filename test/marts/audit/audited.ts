/** A warehouse made of an odd world over HTTP, its marts, and the records that the service still has: both sides of an audit. */

import { mkdirSync } from 'node:fs'
import { findResource } from '../../../src/contract/catalogue.ts'
import type { Resource } from '../../../src/contract/fields/resource.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { defaultDays } from '../../../src/lib/day-rule.ts'
import { namedRng, seededRng } from '../../../src/lib/rng.ts'
import { tombstone } from '../../../src/load/merge/tombstone.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { buildMarts } from '../../../src/marts/build.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { openGate } from '../../../src/marts/rebuild.ts'
import type { CollectionName } from '../../../src/sandbox/world.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { filledAt, loadAll } from '../../support/filled-warehouse.ts'
import { syncOnce, type Warehouse } from '../../support/warehouse-fixture.ts'
import { type OddWorld, oddWorld, type Raw } from './odd-world.ts'
import { countDaysIn, dayOf } from './words.ts'

/** What the service has, as far as the warehouse could read it. */
export interface Service {
  /** Live records; of assignments and requisitions those whose id was read. */
  readonly live: Readonly<Record<CollectionName, readonly Raw[]>>
  /** Records that were read and then deleted at the service: what they said before is still known. */
  readonly gone: Readonly<Record<CollectionName, readonly Raw[]>>
  /** End of the last sync. */
  readonly asOf: string
  /** YYYY-MM-DD in the reporting zone. */
  readonly today: string
}

/** Stands still but for waits, which take no time. */
function patientClock(): Clock {
  let now = Date.parse(filledAt)
  return {
    now: () => now,
    sleep: async ms => {
      now += ms
    },
  }
}

/** Lists that marts read. */
const lists = [
  'key',
  'companies',
  'projects',
  'users',
  'timesheets',
  'expenses',
  'invoices',
  'user-permissions',
]

/** Lists that lose records, with the resource of each. */
const losing: readonly (readonly [CollectionName, string])[] = [
  ['timesheets', 'timesheets'],
  ['expenses', 'expenses'],
  ['invoices', 'invoices'],
  ['assignments', 'assignments'],
  ['requisitions', 'requisitions'],
  ['creditNotes', 'credit-notes'],
]

/** Fills the warehouse, removes records at the service and in the warehouse, and builds every mart. */
export async function auditedService(
  { engine, landing }: Pick<Warehouse, 'engine' | 'landing'>,
  { seed, scale }: OddWorld,
): Promise<Service> {
  const warehouse = { engine, landing, address: '', close: async () => {}, open: async () => {} }
  countDaysIn((engine.days ?? defaultDays).zone)
  const records = oddWorld({ seed, scale })
  const rng = namedRng(seed, 'losses')
  const unread = {
    assignments: records.assignments.filter(() => rng() < 0.04),
    requisitions: records.requisitions.filter(() => rng() < 0.04),
  }
  const sandbox = await keptSandbox({ records, rateLimitPerMinute: 100_000, rateLimitPerDay: 10_000_000 })
  mkdirSync(landing, { recursive: true })
  const { failure } = await syncOnce(sandbox, warehouse, {
    request: { resources: lists },
    effects: { clock: patientClock() },
  })
  if (failure) throw failure
  const world = (name: CollectionName): readonly Raw[] => sandbox.world.all(name)
  for (const [name, gone] of Object.entries(unread))
    for (const { id } of gone) sandbox.world.remove(name as CollectionName, id)
  await loadAll(engine, sandbox, landing)
  const gone: Partial<Record<CollectionName, readonly Raw[]>> = {}
  for (const [name, resource] of losing) {
    const lost = world(name).filter(() => rng() < 0.03)
    gone[name] = lost
    for (const { id } of lost) sandbox.world.remove(name, id)
    const rows = lost.map(({ id }) => ({ id, at: filledAt }))
    await engine.transaction(engine => tombstone(engine, stagePlan(findResource(resource) as Resource), rows))
  }
  const asOf = await build(engine)
  const names = Object.keys(records) as CollectionName[]
  const each = (recordsOf: (name: CollectionName) => readonly Raw[]): Service['live'] =>
    Object.fromEntries(names.map(name => [name, recordsOf(name)])) as Service['live']
  return { live: each(world), gone: each(name => gone[name] ?? []), asOf, today: dayOf(filledAt) as string }
}

async function build(engine: Engine): Promise<string> {
  const { marts, asOf } = await buildMarts(
    {
      engine,
      clock: patientClock(),
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: [], all: true },
  )
  const failed = marts.filter(({ state }) => state !== 'built')
  if (failed.length > 0)
    throw new Error(failed.map(({ name, message }) => `mart.${name}: ${message}`).join('\n'))
  return String(asOf)
}
