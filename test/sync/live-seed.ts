/** One history of a service that changes while it is read: reading, reading again, rest, and a last sync. */
import { expect } from 'vitest'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import type { World } from '../../src/sandbox/world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { tables } from '../support/warehouse-dump.ts'
import { type Bench, syncOnce } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'
import { syncedOnce } from './synced-once.ts'

const collections = ['timesheets', 'invoices'] as const
type Collection = (typeof collections)[number]

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

/** What a seed decides: how large, how busy, and how coarse the clock of the service is. */
interface Climate {
  readonly rows: number
  readonly changesPerRequest: number
  /** Share of deletions among the changes. */
  readonly deletions: number
  /** Changes that share one updatedAt. */
  readonly perTick: number
}

function climateOf(rng: Rng): Climate {
  return {
    rows: pick(rng, [3, 190, 201, 400, 610]),
    changesPerRequest: pick(rng, [1, 5, 40, 150]),
    deletions: pick(rng, [0, 0.2, 0.6]),
    perTick: pick(rng, [1, 1, 7]),
  }
}

class Weather {
  readonly #world: World
  readonly #rng: Rng
  readonly #climate: Climate
  readonly deleted: Record<Collection, Set<string>> = { timesheets: new Set(), invoices: new Set() }
  #changes: number
  changed = 0

  constructor(world: World, rng: Rng, climate: Climate) {
    this.#world = world
    this.#rng = rng
    this.#climate = climate
    this.#changes = climate.rows
  }

  change(): void {
    const { changesPerRequest } = this.#climate
    const count = Math.floor(this.#rng() * (changesPerRequest + 1))
    for (let done = 0; done < count; done += 1) this.#once(pick(this.#rng, collections))
    this.changed += count
  }

  #once(name: Collection): void {
    this.#changes += 1
    const tick = this.#climate.rows + Math.floor(this.#changes / this.#climate.perTick)
    const kind = this.#rng()
    const record = this.#world.at(name, this.#rng())
    if (record && kind < this.#climate.deletions) {
      this.#world.remove(name, String(record.id))
      this.deleted[name].add(String(record.id))
    } else if (record && kind < this.#climate.deletions + (1 - this.#climate.deletions) * 0.7) {
      const status = `changed ${this.#changes}`
      // Invoices have no version: an undeclared field would be kept only from the page on that shows it first.
      const version = name === 'timesheets' ? { version: Number(record.version ?? 0) + 1 } : {}
      this.#world.upsert(name, { ...record, ...version, status, updatedAt: timeOf(tick) })
    } else {
      const fresh = plainMakers[name](this.#changes + 100_000)
      this.#world.upsert(name, { ...fresh, createdAt: timeOf(tick), updatedAt: timeOf(tick) })
    }
  }
}

const rowTables = [
  'star.fact_timesheet',
  'star.fact_timelog',
  'star.fact_invoice',
  'star.bridge_invoice_project',
]

const idOf = (row: string): string =>
  (({ timesheet_id, invoice_id }) => timesheet_id ?? invoice_id)(JSON.parse(row)) as string

/** Resolves to how many changes happened between requests; throws when the warehouse differs from the source. */
export async function proveSeed(bench: Bench, seed: number): Promise<number> {
  const rng = namedRng(seed, 'live')
  const climate = climateOf(rng)
  const records = plainRecords({ timesheets: climate.rows, invoices: climate.rows })
  let weather: Weather | undefined
  const sandbox = await openSandbox({
    records,
    rateLimitPerMinute: 100_000,
    rateLimitPerDay: 10_000_000,
    onRequest: () => weather?.change(),
  })
  const request = { resources: collections }
  const empty = () => syncedOnce(bench, { name: 'nothing', sync: async () => undefined })
  const warehouse = await empty()
  weather = new Weather(sandbox.world, rng, climate)
  const { deleted } = weather
  for (let run = 1; run <= 1 + (seed % 2); run += 1) {
    const limits = rng() < 0.3 ? { maxRequests: 2 + Math.floor(rng() * 6) } : {}
    await syncOnce(sandbox, warehouse, { request: { ...request, limits } })
  }
  const { changed } = weather
  weather = undefined
  expect({ seed, failure: (await syncOnce(sandbox, warehouse, { request })).failure }).toEqual({ seed })
  const fresh = await empty()
  await syncOnce(sandbox, fresh, { request })
  const [held, source] = [await tables(warehouse.engine, rowTables), await tables(fresh.engine, rowTables)]
  for (const name of rowTables) {
    const gone = deleted[name.includes('invoice') ? 'invoices' : 'timesheets']
    const rows = (held[name] ?? []).filter(row => !gone.has(idOf(row)))
    const wanted = source[name] ?? []
    const [copied, there] = [new Set(rows), new Set(wanted)]
    const [missing, wrong] = [wanted.filter(row => !copied.has(row)), rows.filter(row => !there.has(row))]
    expect({ seed, climate, name, missing, wrong }).toEqual({ seed, climate, name, missing: [], wrong: [] })
  }
  await Promise.all([warehouse.close(), fresh.close(), sandbox.close()])
  return changed
}
