/** Changes while a client reads: by call, by the clock, between requests, and in place of responses. */
import { expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { generateRecords } from '../../../src/sandbox/data/generate.ts'
import { mutateWorld } from '../../../src/sandbox/live/mutate-world.ts'
import { World } from '../../../src/sandbox/world.ts'
import { brokenSums } from '../data/sums.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const options = { seed: 1, scale: 0.2, today: '2026-11-02' }
const start = Date.parse('2026-11-02T08:00:00.000Z')

function workOf(world: World) {
  return {
    timesheets: world.all('timesheets') as Body[],
    expenses: world.all('expenses') as Body[],
    invoices: world.all('invoices') as Body[],
  }
}

it('changes records, keeps their sums right and never moves updatedAt back', () => {
  const world = new World(generateRecords(options))
  const rng = seededRng(7)
  const kinds = new Set<string>()
  let latest = world.latestUpdate()
  for (let step = 0; step < 60; step += 1) {
    const nowMs = start + step * 1000 - (step % 7 === 0 ? 5000 : 0)
    for (const { kind, collection, id } of mutateWorld(world, { rng, nowMs, count: 10, deletions: true })) {
      kinds.add(`${kind} ${collection}`)
      if (kind === 'removed') continue
      const record = world.get(collection, id) as Body
      if (!record) continue
      expect(record.updatedAt >= latest).toBe(true)
      if (kind === 'created') expect(record.createdAt).toBe(record.updatedAt)
    }
    latest = world.latestUpdate()
  }
  expect([...kinds]).toEqual(
    expect.arrayContaining([
      'updated timesheets',
      'created timesheets',
      'removed timesheets',
      'created expenses',
      'updated expenses',
      'created invoices',
      'updated invoices',
    ]),
  )
  expect(brokenSums(workOf(world))).toEqual([])
  const { timesheets } = workOf(world)
  for (const { assignment } of timesheets) {
    expect(world.get('assignments', assignment.id)?.reference).toBe(assignment.reference)
  }
  const references = world.all('assignments').map(row => row.reference)
  expect(new Set(references).size).toBe(references.length)
  const weeks = timesheets.map(row => `${row.assignment.id} ${row.weekEnding}`)
  expect(new Set(weeks).size).toBe(weeks.length)
  expect(new Set(timesheets.map(row => row.reference)).size).toBe(timesheets.length)
  expect(timesheets.every(row => row.start <= latest)).toBe(true)
})

it('keeps requisitions, assignments and credit notes consistent', () => {
  const world = new World(generateRecords(options))
  const rng = seededRng(11)
  const kinds = new Set<string>()
  for (let step = 0; step < 100; step += 1) {
    const occasion = { rng, nowMs: start + step * 1000, count: 10, deletions: true }
    for (const { kind, collection } of mutateWorld(world, occasion)) kinds.add(`${kind} ${collection}`)
  }
  expect([...kinds]).toEqual(
    expect.arrayContaining([
      ...['requisitions', 'assignments', 'trades', 'rates', 'creditNotes', 'purchaseOrders'].flatMap(name => [
        `created ${name}`,
        `updated ${name}`,
      ]),
      'removed purchaseOrders',
    ]),
  )
  const assignments = world.all('assignments') as Body[]
  for (const row of world.all('requisitions') as Body[]) {
    const own = assignments.filter(one => one.requisition?.id === row.id)
    const kept = own.filter(one => one.status !== 'cancelled')
    const assigned = row.agencies.reduce((sum: number, agency: Body) => sum + agency.assigned, 0)
    expect([row.reference, assigned]).toEqual([row.reference, kept.length])
    expect(row.status === 'filled').toBe(assigned === row.quantity)
    const tracked = row.stageTracking?.filter((one: Body) => one.stage === 'assigned')
    if (tracked) expect(tracked).toHaveLength(own.length)
  }
  const cents = (amount: number) => Math.round(amount * 100)
  const notes = world.all('creditNotes') as Body[]
  for (const { id, reference, values } of world.all('invoices') as Body[]) {
    const own = notes.filter(note => note.invoice?.id === id)
    const sum = own.reduce((total, note) => total + cents(note.values.subtotal), 0)
    expect([reference, cents(values.creditNotes)]).toEqual([reference, sum])
  }
  const credited = new Set(notes.map(note => note.timesheet?.id))
  const sheets = world.all('timesheets') as Body[]
  expect(sheets.filter(row => row.status === 'cancelled' && !credited.has(row.id))).toEqual([])
  for (const rate of world.all('rates') as Body[])
    for (const set of Object.values(rate.rates) as Body[])
      if (set) expect(cents(set.charge)).toBe(cents(set.pay) + cents(set.emp) + cents(set.margin))
  expect(brokenSums(workOf(world))).toEqual([])
})

it('changes the same way for the same seed', () => {
  const run = () => {
    const world = new World(generateRecords({ ...options, scale: 0.05 }))
    mutateWorld(world, { rng: seededRng(3), nowMs: start, count: 50 })
    return JSON.stringify(workOf(world))
  }
  expect(run()).toBe(run())
})

it('copes with records that have hardly any fields', () => {
  const world = new World({
    timesheets: [
      { id: 't1', status: 'pending' },
      { id: 't2', status: 'approved' },
    ],
  })
  const changes = mutateWorld(world, { rng: seededRng(1), nowMs: start, count: 20 })
  expect(changes.length).toBeGreaterThanOrEqual(20)
  expect(world.latestUpdate()).toBe('2026-11-02T08:00:00.000Z')
})

it('changes records by the clock until it is closed', async () => {
  let at = start
  const clock: Clock = {
    now: () => at,
    sleep: async (_ms, signal) => {
      await systemClock.sleep(1, signal)
      at += 100
    },
  }
  const sandbox = await openSandbox({ ...options, clock, live: { changesPerSecond: 20, seed: 2 } })
  const before = sandbox.world.latestUpdate()
  await expect.poll(() => sandbox.world.latestUpdate() > before).toBe(true)
  const { body } = await sandbox.get('/timesheets?sortBy=updatedAt&sortOrder=desc&limit=1')
  expect(body.data[0].updatedAt > '2026-11-02').toBe(true)
  await sandbox.close()
  const after = sandbox.world.latestUpdate()
  await systemClock.sleep(20)
  expect(sandbox.world.latestUpdate()).toBe(after)
})

it('lets a test change the world between requests', async () => {
  const sandbox = await openSandbox({
    records: { projects: [{ id: 'p1', name: 'One' }] },
    onRequest: async request => {
      if (request.query.page === '2') sandbox.world.upsert('projects', { id: 'p2', name: 'Two' })
    },
  })
  expect((await sandbox.get('/projects')).body.meta.total).toBe(1)
  expect((await sandbox.get('/projects?page=2')).body.meta.total).toBe(2)
})

it('lets a test respond instead, reset the connection or stay silent', async () => {
  let asked = 0
  const sandbox = await openSandbox({
    records: {},
    rateLimitPerMinute: 1,
    intercept: ({ path, query }) => {
      asked += 1
      if (path !== '/timesheets') return undefined
      if (query.page === '1') return { status: 503, headers: { 'retry-after': '7' }, body: '{"cut' }
      return query.page === '2' ? 'reset' : 'hang'
    },
  })
  const authorization = 'Bearer sandbox-company-key'
  const raw = await fetch(`${sandbox.url}/timesheets?page=1`, { headers: { authorization } })
  expect([raw.status, raw.headers.get('retry-after'), await raw.text()]).toEqual([503, '7', '{"cut'])
  await expect(fetch(`${sandbox.url}/timesheets?page=2`, { headers: { authorization } })).rejects.toThrow()
  const hanging = fetch(`${sandbox.url}/timesheets?page=3`, { signal: AbortSignal.timeout(100) })
  await expect(hanging).rejects.toThrow()
  expect((await sandbox.get('/me')).body.data.usage.requestsToday).toBe(1)
  expect(asked).toBe(4)
})

it('refuses settings that describe no world', async () => {
  await expect(openSandbox({ today: '2026-02-30' })).rejects.toThrow('today is not a day')
  await expect(openSandbox({ scale: 0 })).rejects.toThrow('scale')
})
