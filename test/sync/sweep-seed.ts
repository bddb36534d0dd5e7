/** One history of a live sandbox over HTTP, with faults, refusals and a key that changes, swept night after night. */
import { expect } from 'vitest'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { FaultName } from '../../src/sandbox/faults/faults.ts'
import type { Records, World } from '../../src/sandbox/world.ts'
import type { Bench, Warehouse } from '../warehouse/fixture.ts'
import { leapingClock } from './faulty-sync.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'
import { deleted, lists, openSwept, type Swept } from './sweeping.ts'

const companies = ['c1', 'c2', 'c3']

/** Faults that are over at once: hangs and slow bodies cost the time of a test and tell a sweep nothing more. */
const quickFaults: readonly FaultName[] = [
  'wrong-total',
  'odd-meta',
  'not-success',
  'error-empty',
  'cut-body',
  'short-body',
  'broken-json',
  'limit-storm',
  'reset',
]

const companyOf = (index: number) => ({ id: companies[index % 3], name: `Company ${index % 3}` })

function recordsOf(rows: number): Records {
  const {
    companies: [one] = [],
    timesheets = [],
    expenses = [],
  } = plainRecords({ timesheets: rows, expenses: 40 })
  const placed = (list: readonly object[]) =>
    list.map((record, index) => ({ ...record, company: companyOf(index) }))
  return {
    companies: companies.map(id => ({ ...one, id })),
    timesheets: placed(timesheets),
    expenses: placed(expenses),
  }
}

class Storm {
  readonly #rng: Rng
  readonly #service: () => Swept
  readonly gone = new Set<string>()
  isOn = false
  #tick = 10_000
  #refusing = 0
  #isKeyChanged = false
  readonly #changes: number
  readonly #deletions: number

  constructor(rng: Rng, service: () => Swept) {
    this.#rng = rng
    this.#service = service
    this.#changes = rng() * 0.8
    this.#deletions = rng() * 0.25
  }

  begin(): void {
    this.#isKeyChanged = false
  }

  /** Before each request. */
  blow(): void {
    if (!this.isOn) return
    const { world } = this.#service()
    const name = lists[this.#rng() < 0.8 ? 0 : 1]
    if (this.#rng() < this.#changes) this.#change(world, name)
    if (this.#rng() < this.#deletions) this.remove(world, name)
    if (this.#rng() < 0.02) this.#refusing = 1 + Math.floor(this.#rng() * 5)
    if (this.#isKeyChanged || this.#rng() > 0.015) return
    this.#isKeyChanged = true
    this.#service().allow({ companies: this.#rng() < 0.5 ? companies : companies.slice(0, 2) })
  }

  remove(world: World, name: (typeof lists)[number]): string | undefined {
    const id = world.at(name, this.#rng())?.id
    if (id === undefined) return undefined
    world.remove(name, String(id))
    this.gone.add(String(id))
    return String(id)
  }

  #change(world: World, name: (typeof lists)[number]): void {
    this.#tick += 1
    const at = timeOf(this.#tick)
    const record = this.#rng() < 0.6 ? world.at(name, this.#rng()) : undefined
    const fresh = { ...plainMakers[name](this.#tick), company: companyOf(this.#tick), createdAt: at }
    world.upsert(name, { ...(record ?? fresh), status: `changed ${this.#tick}`, updatedAt: at })
  }

  /** A spell of refusals, which `/me` has no part in. */
  get isRefusing(): boolean {
    if (!this.isOn || this.#refusing === 0) return false
    this.#refusing -= 1
    return true
  }
}

const pickFaults = (rng: Rng) =>
  Object.fromEntries(quickFaults.filter(() => rng() < 0.4).map(name => [name, rng() * 0.08]))

async function expectNoneFalse(seed: number, warehouse: Warehouse, gone: ReadonlySet<string>): Promise<void> {
  const falseOnes = (await deleted(warehouse)).filter(id => !gone.has(id))
  expect({ seed, falseOnes }).toEqual({ seed, falseOnes: [] })
}

/** Resolves to how many rows were tombstoned in the storm; throws for one that is there, and for a deletion not found. */
export async function proveSweeps(bench: Bench, seed: number): Promise<number> {
  const rng = namedRng(seed, 'sweeps over HTTP')
  const storm: Storm = new Storm(rng, () => service)
  const clock = leapingClock()
  const service = await openSwept({
    records: recordsOf(120 + Math.floor(rng() * 300)),
    clock,
    faults: pickFaults(rng),
    faultSeed: seed,
    ...(rng() < 0.3 && { knobs: { ties: 'random' as const } }),
    onRequest: () => storm.blow(),
    intercept: ({ path }) =>
      storm.isRefusing && !path.endsWith('/me') ? { status: 403, body: '{"success":false}' } : undefined,
  })
  const warehouse = await bench.warehouse()
  const effects = { clock, rng: namedRng(seed, 'jitter') }
  const timeouts = { headersTimeout: 300, bodyTimeout: 300, totalTimeout: 500 }
  const night = async (run: 'sync' | 'sweep', request = {}): Promise<string | undefined> => {
    storm.begin()
    const { failure } = await service[run](warehouse, { effects, request, connection: { timeouts } })
    // Whoever starts the next one comes later: a pause that this one was told is over then.
    await clock.sleep(60_000)
    return failure?.message
  }
  await night('sync')
  storm.isOn = true
  for (let run = 0; run < 5; run += 1) {
    if (rng() < 0.8) await night('sync')
    await night('sweep', rng() < 0.3 ? { limits: { maxRequests: 4 + Math.floor(rng() * 6) } } : {})
    await expectNoneFalse(seed, warehouse, storm.gone)
  }
  const found = (await deleted(warehouse)).length
  storm.isOn = false
  service.calm()
  service.allow({ companies })
  for (let run = 0; run < 3; run += 1) {
    await night('sync')
    await night('sweep', { sweep: { most: 1000 } })
  }
  const last = lists.map(name => storm.remove(service.world, name) ?? '')
  const failures = [await night('sweep'), await night('sweep')]
  expect({ seed, failures }).toEqual({ seed, failures: [undefined, undefined] })
  const held = await deleted(warehouse)
  expect({ seed, missed: last.filter(id => !held.includes(id)) }).toEqual({ seed, missed: [] })
  await expectNoneFalse(seed, warehouse, storm.gone)
  await Promise.all([warehouse.close(), service.close()])
  return found
}
