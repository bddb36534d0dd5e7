/** One history of a live sandbox over HTTP, in the weather of its seed, swept night after night. */
import { expect } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { recordEvidenceOfStored } from '../../src/state/evidence/evidence.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import { liveRecords } from '../../src/warehouse/schema/record-rows.ts'
import type { Bench, Warehouse } from '../support/warehouse-fixture.ts'
import { leapingClock } from './faulty-sync.ts'
import { plainRecords } from './plain-records.ts'
import { companies, companyOf, Storm } from './sweep-storm.ts'
import { type SweepWeather, weatherOf } from './sweep-weather.ts'
import { deleted, openSwept, type Swept, type SweptName } from './sweeping.ts'
import { syncedOnce } from './synced-once.ts'

const stormyNights = 3

function recordsOf(size: SweepWeather['size']): WorldRecords {
  const { companies: [one] = [], timesheets = [], expenses = [] } = plainRecords(size)
  const placed = (list: readonly object[]) =>
    list.map((record, index) => ({ ...record, company: companyOf(index) }))
  return {
    companies: companies.map(id => ({ ...one, id })),
    timesheets: placed(timesheets),
    expenses: placed(expenses),
  }
}

/** From a service that does nothing else. */
async function firstSync(warehouse: Warehouse, records: WorldRecords): Promise<void> {
  const service = await openSwept({ records })
  const { failure } = await service.sync(warehouse)
  expect(failure).toBeUndefined()
  await service.close()
}

interface Setting {
  readonly seed: number
  readonly rng: Rng
  readonly clock: Clock
  readonly weather: SweepWeather
  readonly service: Swept
  readonly storm: Storm
  readonly warehouse: Warehouse
  /** When the storm ended. */
  readonly calmAt: { iso: string }
}

async function openSource(bench: Bench, seed: number): Promise<Setting> {
  const rng = namedRng(seed, 'sweeps over HTTP')
  const weather = weatherOf(seed)
  const clock = leapingClock()
  const records = recordsOf(weather.size)
  const service = await openSwept({
    records,
    clock,
    faults: weather.faults,
    faultSeed: seed,
    provokesViolations: true,
    ...(weather.ties && { options: { ties: 'random' as const } }),
    onRequest: request => storm?.blow(request),
    intercept: request => storm?.answer(request),
  })
  let storm: Storm | undefined
  const warehouse = await syncedOnce(bench, {
    name: Object.values(weather.size).join('-'),
    sync: fresh => firstSync(fresh, records),
  })
  storm = new Storm(rng, weather, service)
  return { seed, rng, clock, weather, service, storm, warehouse, calmAt: { iso: '' } }
}

/** What somebody was told of since. */
async function hear({ storm, warehouse, clock }: Setting): Promise<void> {
  for (const { name, id } of storm.told.splice(0)) {
    const heard = { record_id: id, kind: 'event' as const, source: `event ${id}` }
    const seen_at = new Date(clock.now()).toISOString()
    await recordEvidenceOfStored(warehouse.engine, findResource(name) as Resource, [{ ...heard, seen_at }])
  }
}

async function run(setting: Setting, kind: 'sync' | 'sweep', sweep = {}): Promise<RunResult> {
  const { seed, rng, clock, weather, service, storm, warehouse } = setting
  storm.begin(kind)
  const limits = kind === 'sweep' && storm.hits('stop') ? { maxRequests: 2 + Math.floor(rng() * 6) } : {}
  const timeouts = storm.isOn ? { headersTimeout: 1000, bodyTimeout: 1000, totalTimeout: 1000 } : {}
  const outcome = await service[kind](warehouse, {
    effects: { clock, rng: namedRng(seed, 'jitter') },
    request: { resources: weather.lists, limits, ...(kind === 'sweep' && { sweep }) },
    connection: { timeouts },
  })
  storm.end()
  // Whoever starts the next one comes later: a pause that this one was told is over then.
  await clock.sleep(60_000)
  return outcome
}

async function expectNoneFalse({ seed, warehouse, storm }: Setting): Promise<number> {
  const tombstoned = await deleted(warehouse)
  const falseOnes = tombstoned.filter(id => !storm.gone.has(id))
  expect({ seed, falseOnes }).toEqual({ seed, falseOnes: [] })
  return tombstoned.length
}

/** Whether each list was read whole with what the key sees since the storm is over. */
async function isSettled({ warehouse, weather, calmAt }: Setting): Promise<boolean> {
  const rows = await warehouse.engine.rows(
    `select distinct resource from ops.sweep where state = 'accepted' and started_at >= $1`,
    [calmAt.iso],
  )
  return rows.length === weather.lists.length
}

/** All is well again: what goes now must be found by one sweep and the next, which is its second evidence. */
async function rest(setting: Setting): Promise<readonly string[]> {
  const { weather, storm, rng } = setting
  storm.calm()
  setting.calmAt.iso = new Date(setting.clock.now()).toISOString()
  const most = { maxDeletions: 1000 }
  // The first sweep of a key that sees something else than before only takes note of what there is, and where the key sees
  // more, there is none until a sync has read the list anew.
  for (let tried = 1; tried <= 3 && !(await isSettled(setting)); tried += 1) {
    if (tried > 1) await run(setting, 'sync')
    await run(setting, 'sweep', most)
  }
  const outcomes = [await run(setting, 'sync')]
  const last = weather.lists.flatMap(name =>
    Array.from({ length: 1 + Math.floor(rng() * 3) }, () => storm.remove(name) ?? ''),
  )
  outcomes.push(await run(setting, 'sweep', most), await run(setting, 'sweep', most))
  const failures = outcomes.map(({ failure }) => failure?.message)
  expect({ seed: setting.seed, failures: failures.filter(Boolean) }).toEqual({
    seed: setting.seed,
    failures: [],
  })
  return last
}

async function heldLive({ warehouse }: Setting, name: SweptName): Promise<Set<string>> {
  const resource = findResource(name) as Resource
  const key = `t."${resource.table.key}"`
  const rows = await warehouse.engine.rows<{ id: string }>(
    `select ${key} as id from ${liveRecords(resource)}`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** The warehouse beside the source, when both are at rest; returns how many deletions nobody could see. */
async function expectAllFound(setting: Setting, last: readonly string[]): Promise<number> {
  const { seed, warehouse, service, weather } = setting
  const [scope] = await warehouse.engine.rows<{ id: string }>(
    'select scope_id as id from ops.key_scope order by observed_at desc, run_id desc limit 1',
  )
  let notSeen = 0
  for (const name of weather.lists) {
    const held = await heldLive(setting, name)
    const there = new Set(service.world.all(name).map(({ id }) => String(id)))
    const hidden = await warehouse.engine.rows<{ id: string }>(
      'select record_id as id from ops.out_of_sight where resource = $1 and scope_id = $2',
      [name, scope?.id ?? ''],
    )
    const outOfSight = new Set(hidden.map(({ id }) => id))
    const left = [...held].filter(id => !there.has(id))
    const missed = left.filter(id => !outOfSight.has(id) || last.includes(id))
    const lacking = [...there].filter(id => !held.has(id))
    expect({ seed, name, missed, lacking }).toEqual({ seed, name, missed: [], lacking: [] })
    notSeen += left.length
  }
  return notSeen
}

export interface SweepProof {
  readonly tombstones: number
  /** Deletions that stay unknown, because the key did not show the record when it was first swept with what it sees. */
  readonly notSeen: number
  readonly requests: number
  readonly happened: Readonly<Record<string, number>>
}

async function counters({ service, storm, weather, warehouse }: Setting): Promise<Record<string, number>> {
  const happened: Record<string, number> = { ...storm.happened, ties: weather.ties ? 1 : 0 }
  const add = (name: string, n = 1) => {
    happened[name] = (happened[name] ?? 0) + n
  }
  for (const { fault } of service.requests) if (fault) add(`fault ${fault}`)
  const sweeps = await warehouse.engine.rows<{ word: string; n: number }>(
    `select concat_ws(' ', 'sweep', state, note) as word, count(*) as n from ops.sweep group by all
     union all select 'evidence ' || kind, count(*) from ops.evidence group by all
     union all select 'undeleted', count(*) from ops.deletion where undeleted_at is not null`,
  )
  for (const { word, n } of sweeps) add(word, Number(n))
  return happened
}

async function live(setting: Setting): Promise<SweepProof> {
  const { storm, rng, service } = setting
  storm.isOn = true
  for (let night = 0; night < stormyNights; night += 1) {
    if (rng() < 0.5) await run(setting, 'sync')
    await hear(setting)
    await run(setting, 'sweep')
    await expectNoneFalse(setting)
  }
  const notSeen = await expectAllFound(setting, await rest(setting))
  const tombstones = await expectNoneFalse(setting)
  return { tombstones, notSeen, requests: service.requests.length, happened: await counters(setting) }
}

/** Throws for a tombstone of a row that is there, and for a deletion that was not found in time. */
export async function proveSweeps(bench: Bench, seed: number): Promise<SweepProof> {
  const setting = await openSource(bench, seed)
  const close = [() => setting.warehouse.close(), () => setting.service.close()]
  try {
    const proof = await live(setting)
    await Promise.all(close.map(one => one()))
    return proof
  } catch (error) {
    await Promise.allSettled(close.map(one => one()))
    throw error
  }
}
