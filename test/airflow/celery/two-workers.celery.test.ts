/**
 * Two machines and one key: a first load in which one of them is lost, and two nights. `npm run test:celery`; the scale is
 * MUSTER_CELERY_SCALE. For the times, MUSTER_CELERY_WORKERS=1 is one machine, and MUSTER_CELERY_LOSS=none loses none of two.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../../src/contract/catalogue.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { defaultKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { mutateWorld } from '../../../src/sandbox/live/mutate-world.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { differences } from '../../simulation/oracle.ts'
import { visitorKey } from '../../simulation/source.ts'
import { type Database, database } from '../../support/postgres-database.ts'
import { type Cluster, startCluster, until } from './cluster.ts'
import type { Machine } from './machine.ts'

const scale = Number(process.env.MUSTER_CELERY_SCALE ?? 5)
const hasTwo = process.env.MUSTER_CELERY_WORKERS !== '1'
const losesOne = hasTwo && process.env.MUSTER_CELERY_LOSS !== 'none'
const [perMinute, perDay] = [300, 20_000]
const minuteMs = 60_000
const lists = ['timesheets', 'expenses', 'invoices', 'users', 'sites', 'projects', 'access-rules'] as const

interface Asked {
  readonly at: number
  readonly what: string
}

let cluster: Cluster
let warehouse: Database
let url: string
let change: () => void
const asked: Asked[] = []

beforeAll(async () => {
  warehouse = await database()
  const own = { rateLimitPerMinute: perMinute, rateLimitPerDay: perDay }
  const sandbox = await keptSandbox({
    scale,
    keys: [
      ...defaultKeys.map(one => ({ ...one, ...own })),
      { key: visitorKey, kind: 'company', rateLimitPerMinute: 1e6, rateLimitPerDay: 1e6 },
    ],
    onRequest: ({ key, path, query }) => {
      if (key === visitorKey) return
      asked.push({ at: Date.now(), what: `${path}?${new URLSearchParams(query as Record<string, string>)}` })
    },
  })
  url = sandbox.url
  const rng = seededRng(5)
  change = () =>
    void mutateWorld(sandbox.world, {
      rng,
      nowMs: Date.now(),
      count: Math.ceil(200 * scale),
      deletions: false,
    })
  cluster = await startCluster(
    `connections:\n  pg: { baseUrl: "${url}", apiKey: "\${MUSTER_TEST_KEY}", warehouse: "${warehouse.url}" }\n`,
  )
}, 900_000)
afterAll(async () => {
  await cluster?.stop()
  await warehouse?.drop()
})

/** Requests in the fullest minute that begins with any of them. */
function fullest(): number {
  const times = asked.map(({ at }) => at)
  let most = 0
  for (let first = 0, last = 0; first < times.length; first += 1) {
    while (last < times.length && (times[last] ?? 0) < (times[first] ?? 0) + minuteMs) last += 1
    most = Math.max(most, last - first)
  }
  return most
}

/** Pages that were asked more than once; /me is asked by each process. */
function askedTwice(requests: readonly Asked[]): string[] {
  const times = new Map<string, number>()
  for (const { what } of requests) times.set(what, (times.get(what) ?? 0) + 1)
  return [...times]
    .filter(([what, n]) => n > 1 && !what.startsWith('/me'))
    .map(([what, n]) => `${n} x ${what}`)
}

/** A list is read from its last page to its first one, which was asked before: it tells how many pages there are. */
const isFirstPage = (line: string): boolean => /^2 x .*[?&]page=1(&|$)/.test(line)

/** Pages of what the lost machine was reading are on its disk; calibration and the cross-check ask for the same figures. */
function mayBeAsked(line: string, lost: readonly string[]): boolean {
  const names = new Set(lost.flatMap(words => words.split(/[ ;]+/)))
  const paths = catalogue.filter(({ name }) => names.has(name)).map(({ path }) => path)
  return [...paths, '/requisitions/recruitment-metrics'].some(path => line.includes(` x ${path}?`))
}

async function night(run: string): Promise<void> {
  const before = asked.length
  const { state, seconds, tried } = await cluster.run('muster_pg_nightly', run)
  console.log(
    `${run}: ${state} after ${seconds.toFixed(0)} s, ${asked.length - before} requests\n  ${tried.join('\n  ')}`,
  )
  expect({ run, state }).toEqual({ run, state: 'success' })
}

async function unlikeTheSource(): Promise<string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'muster-compared-'))
  const engine = await openPostgres({ url: warehouse.url, shown: 'pg' }, { scratch })
  try {
    const found: string[] = []
    for (const name of lists) found.push(...(await differences(engine, url, name)))
    return found
  } finally {
    await engine.close()
  }
}

const syncsOn = (lines: readonly string[]): string[] =>
  lines.flatMap(line => / sync (.*?) --connection /.exec(line)?.[1] ?? [])

/** Ends a machine as soon as it reads lists, and gives what it was reading. */
async function lose(machine: Machine, meanwhile: Promise<unknown>): Promise<readonly string[]> {
  let lost: readonly string[] = []
  const isReading = until(() => {
    lost = syncsOn(machine.running())
    return lost.length > 0 && asked.length > 20
  })
  await Promise.race([meanwhile, isReading])
  await machine.lose()
  console.log(`lost after ${asked.length} requests, while it read ${lost.join('; ')}`)
  expect(lost).not.toEqual([])
  return lost
}

test('a first load and two DAG runs stay within each limit, ask for no page twice and miss nothing', async () => {
  cluster.worker('one')
  const second = hasTwo ? cluster.worker('two') : undefined
  const first = night('first')
  const lost = second && losesOne ? await lose(second, first) : []
  await first
  const again = askedTwice(asked)
  console.log(`asked more than once in the first load:\n  ${again.join('\n  ')}`)
  expect(again.filter(line => !isFirstPage(line) && !mayBeAsked(line, lost))).toEqual([])
  expect(await unlikeTheSource()).toEqual([])

  if (losesOne) cluster.worker('two')
  for (const run of ['night-1', 'night-2']) {
    change()
    await night(run)
    expect(await unlikeTheSource()).toEqual([])
  }
  console.log(`${asked.length} requests, ${fullest()} of ${perMinute} in the fullest minute`)
  expect(fullest()).toBeLessThanOrEqual(perMinute)
  expect(asked.length).toBeLessThanOrEqual(perDay)
})
