/** Nights of a service under a small budget of requests: what is stored of records that are read by id after each. */
import type { Clock } from '../../src/lib/clock.ts'
import { namedRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { startSandbox } from '../../src/sandbox/server/sandbox.ts'
import type { World } from '../../src/sandbox/world.ts'
import { type Coverage, readCoverage } from '../../src/state/by-id/coverage.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import { runSync } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

const dayMs = 86_400_000
/** Two in the morning of the first day after the generated data. */
const firstNight = Date.parse('2026-11-02T02:00:00.000Z')

const tables = {
  requisitions: ['fact_requisition', 'requisition_id'],
  assignments: ['fact_assignment', 'assignment_id'],
  creditNotes: ['fact_credit_note', 'credit_note_id'],
} as const
type Kind = keyof typeof tables

export interface Night {
  readonly day: number
  readonly requests: number
  /** Whether ids were left that were never read. */
  readonly isBehind: boolean
  readonly coverage: Coverage
  /** Of the records at the source, those that the warehouse holds as they are now. */
  readonly fresh: Readonly<Record<Kind, number>>
}

export interface Nights {
  readonly scale: number
  readonly perDay: number
  readonly days: number
  /** Share of assignments and requisitions that change in a day. */
  readonly changing: number
  /** All when left out. */
  readonly resources?: readonly string[]
}

async function freshShare(engine: Engine, world: World, kind: Kind): Promise<number> {
  const [table, key] = tables[kind]
  const rows = await engine.rows<{ id: string; at: string }>(
    `select ${key} as id, source_updated_at as at from star.${table} where not is_deleted`,
  )
  const stored = new Map(rows.map(({ id, at }) => [id, Date.parse(at)]))
  const all = world.all(kind)
  const fresh = all.filter(({ id, updatedAt }) => stored.get(String(id)) === Date.parse(String(updatedAt)))
  return fresh.length / Math.max(1, all.length)
}

/** A share of the records is saved anew in the course of the day. */
function changeSome(world: World, { changing, days }: Nights, at: number): void {
  const rng = namedRng(Math.floor(at / dayMs) + days, 'virtual days')
  for (const kind of ['requisitions', 'assignments'] as const) {
    for (const record of world.all(kind)) {
      const updatedAt = new Date(at + rng() * dayMs * 0.8).toISOString()
      if (rng() < changing) world.upsert(kind, { ...record, id: String(record.id), updatedAt })
    }
  }
}

/** Events of one day: all credit notes and orders, which nothing else names. */
async function hearOf(engine: Engine, world: World, at: string): Promise<void> {
  const heard = (collection: 'creditNotes' | 'purchaseOrders', resource: string) =>
    world.all(collection).map(({ id }) => ({ resource, recordId: String(id), source: 'event', at }))
  await signal(engine, [
    ...heard('creditNotes', 'credit-notes'),
    ...heard('purchaseOrders', 'purchase-orders'),
  ])
}

interface Place {
  readonly engine: Engine
  readonly landing: string
}

interface Moment {
  readonly clock: Clock
  readonly url: string
  readonly resources: readonly string[]
}

function syncAt({ engine, landing }: Place, { clock, url, resources }: Moment) {
  return runSync(
    {
      baseUrl: url,
      apiKey: sandboxKeys.company,
      landing,
      retentionDays: 30,
      lookbackMinutes: 15,
      pageCapBytes: 64 * 1_048_576,
    },
    { command: 'sync', arguments: resources.join(' '), resources, limits: {} },
    {
      engine,
      clock,
      rng: () => 0,
      signal: new AbortController().signal,
      version: 'test',
      emit: () => undefined,
      onBudget: () => undefined,
    },
  )
}

/** Waiting moves it on at once; between, time goes as it does. */
class NightClock implements Clock {
  #at = firstNight
  #since = Date.now()

  now(): number {
    return this.#at + Date.now() - this.#since
  }

  async sleep(ms: number): Promise<void> {
    this.#at += ms
  }

  set(at: number): void {
    this.#at = at
    this.#since = Date.now()
  }
}

/** A sync each night; before the third one, events name what no list does. */
export async function liveThrough(
  { engine, landing }: Place,
  nights: Nights,
  onNight: (night: Night) => void = () => undefined,
): Promise<Night[]> {
  const clock = new NightClock()
  const { scale, perDay, resources = [] } = nights
  const limits = { rateLimitPerDay: perDay, rateLimitPerMinute: 100_000 }
  const sandbox = await startSandbox({ scale, today: '2026-11-02', ...limits, clock })
  const told: Night[] = []
  try {
    for (let day = 1; day <= nights.days; day += 1) {
      if (day === 3) await hearOf(engine, sandbox.world, new Date(clock.now()).toISOString())
      const { failure, requests } = await syncAt({ engine, landing }, { clock, url: sandbox.url, resources })
      if (failure && failure.exitCode !== 75) throw failure
      const coverage = (await readCoverage(engine)) as Coverage
      const fresh = {
        requisitions: await freshShare(engine, sandbox.world, 'requisitions'),
        assignments: await freshShare(engine, sandbox.world, 'assignments'),
        creditNotes: await freshShare(engine, sandbox.world, 'creditNotes'),
      }
      told.push({ day, requests, isBehind: failure !== undefined, coverage, fresh })
      onNight(told.at(-1) as Night)
      changeSome(sandbox.world, nights, clock.now())
      clock.set(firstNight + day * dayMs)
    }
  } finally {
    await sandbox.close()
  }
  return told
}

const percent = (share: number): string => `${Math.round(share * 100)}%`

/** The values of docs/benchmarks.md: a first sync of 20,000 timesheets with all that is behind them, 2,000 requests a day. */
export async function printNights(place: Place, print: (line: string) => void): Promise<void> {
  print(
    '| night | requests | stored of known ids | requisitions by reference | credit notes | fresh assignments |',
  )
  print('| ---: | ---: | ---: | ---: | ---: | ---: |')
  await liveThrough(place, { scale: 4, perDay: 2_000, days: 6, changing: 0.05 }, night => {
    const { ids, requisitions, creditNotes } = night.coverage
    const [stored, known] = [ids, ids].map((all, at) =>
      all.reduce((sum, one) => sum + (at === 0 ? one.stored : one.known), 0),
    )
    const cells = [
      night.day,
      night.requests,
      `${stored} of ${known}`,
      `${requisitions.stored} of ${requisitions.known}`,
      `${creditNotes.stored} of ${creditNotes.onInvoices}`,
      percent(night.fresh.assignments),
    ]
    print(`| ${cells.join(' | ')} |`)
  })
}
