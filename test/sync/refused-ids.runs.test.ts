/** Ids that are answered 404 or 403: remembered with the reason, and asked again when it makes sense. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import { incompleteResources } from '../../src/state/scans/completeness.ts'
import { type OpenOptions, openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { at, byId, heard, idsIn, movedClock, roomy, stateOf } from './by-id.ts'

const forbidden = { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }

/** A warehouse of one resource that is read by id, synced on a given day; the service answers as the intercept says. */
async function openReadById(bench: Bench, resource: string, options: OpenOptions) {
  const sandbox = await openSandbox({ ...roomy, ...options })
  const warehouse = await bench.warehouse()
  const { engine } = warehouse
  const clock = movedClock()
  return {
    sandbox,
    engine,
    sync: async (day: number, apiKey: string = sandboxKeys.company) => {
      clock.state.days = day
      const before = sandbox.requests.length
      const { failure, resources } = await syncOnce(sandbox, warehouse, {
        request: { resources: [resource] },
        effects: { clock },
        connection: { apiKey },
      })
      return { failure, resources, requested: byId(sandbox.requests.slice(before)).sort() }
    },
    /** An event of each id, at that day of the clock. */
    signalOn: (day: number, ids: readonly string[]) => {
      clock.state.days = day
      const when = new Date(clock.now()).toISOString()
      return signal(
        engine,
        ids.map(id => heard(resource, id, when)),
      )
    },
  }
}

/** 50 stored credit notes; events announce all of them before each sync, and the last `refused` are answered 403. */
async function openCreditNotes(bench: Bench) {
  const ids = Array.from({ length: 50 }, (_, n) => `cn${n + 10}`)
  let refused = 0
  const { engine, sync, signalOn } = await openReadById(bench, 'credit-notes', {
    records: { creditNotes: ids.map(id => ({ id, reference: id })) },
    // The first ones are given: a resource whose first few records are refused is taken as one that the key cannot read.
    intercept: ({ path }) =>
      ids.slice(ids.length - refused).some(id => path === `/credit-notes/${id}`) ? forbidden : undefined,
  })
  return {
    engine,
    count: ids.length,
    /** Exit code and message, if it failed. */
    syncRefusing: async (day: number, records: number) => {
      refused = records
      await signalOn(day, ids)
      const { failure } = await sync(day)
      return failure && [failure.exitCode, failure.message]
    },
    stored: async (): Promise<number> => {
      const [row] = await engine.rows<{ n: number }>(
        `select count(*) as n from star.fact_credit_note where not is_deleted`,
      )
      return Number(row?.n)
    },
  }
}

describeOnEngines('ids that are refused', bench => {
  test('404 and 403 are remembered, and asked again after 1, 2, 4 days, for a signal or another key', async () => {
    const { engine, sync, signalOn } = await openReadById(bench, 'credit-notes', {
      intercept: ({ path }) => (path === '/credit-notes/guarded' ? forbidden : undefined),
    })
    const nowhere = '/credit-notes/nowhere'
    const both = ['/credit-notes/guarded', nowhere]
    const success = (requested: readonly string[]) => ({ failure: undefined, requested })
    await signal(engine, [heard('credit-notes', 'nowhere'), heard('credit-notes', 'guarded')])
    expect(await sync(0), 'the first sync').toMatchObject(success(both))
    expect(await stateOf(engine, 'nowhere'), 'what 404 leaves').toMatchObject({
      state: 'missing',
      reason: 'not found (404)',
      failed_fetches: 1,
    })
    expect(await stateOf(engine, 'guarded'), 'what 403 leaves').toMatchObject({
      state: 'refused',
      reason: 'the key may not read this (403)',
      retry_after: expect.stringMatching(/^2026-11-03T10:00/),
    })

    expect(await sync(0.9), 'within a day').toMatchObject(success([]))
    expect(await sync(1.1), 'after a day').toMatchObject(success(both))
    expect(await sync(3), 'within two more days').toMatchObject(success([]))
    expect(await sync(3.2), 'after two more days').toMatchObject(success(both))
    await signalOn(3.2, ['nowhere'])
    expect(await sync(3.3), 'after an event of one').toMatchObject(success([nowhere]))
    // Another key may see what this one may not.
    expect(await sync(3.4, 'sandbox-one-company-key'), 'with another key').toMatchObject(success(both))
    expect(await sync(3.5, 'sandbox-one-company-key'), 'again with that key').toMatchObject(success([]))
  })

  test.each([
    { now: 20, code: undefined },
    { now: 21, code: 3 },
  ])(
    '$now of 50 that were stored before: a few are no failure, more end a run with 3',
    async ({ now, code }) => {
      const { engine, count, syncRefusing, stored } = await openCreditNotes(bench)
      expect(await syncRefusing(0, 0), 'while all can be read').toBeUndefined()
      const failure = await syncRefusing(1, now)
      // The refused ones are asked first then, and no other is requested to find out whether the key may read any.
      expect(await syncRefusing(2, now), 'when they are refused again').toEqual(failure)
      const incomplete = (await incompleteResources(engine)) ?? []
      expect(await stored(), 'rows that stay').toBe(count)
      if (code === undefined)
        return expect([failure, incomplete], 'when they are refused').toEqual([undefined, []])
      expect(failure, 'when they are refused').toEqual([
        code,
        expect.stringMatching(
          /too many stored records are refused now: 21 of credit-notes, at most 20 tolerated/,
        ),
      ])
      expect(incomplete, 'what is incomplete').toEqual([
        expect.objectContaining({
          resource: 'credit-notes',
          reason: '21 stored records are refused now, 20 are tolerable',
        }),
      ])
    },
  )

  test('an answer with another record is no answer: nothing is stored, and the id is asked for again', async () => {
    const other = JSON.stringify({ success: true, data: { id: 'cn2', reference: 'CN-2' } })
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path }) => (path.startsWith('/credit-notes/') ? { status: 200, body: other } : undefined),
    })
    const warehouse = await bench.warehouse()
    await signal(warehouse.engine, [heard('credit-notes', 'cn1'), heard('credit-notes', 'cn2')])
    const request = { resources: ['credit-notes'] }
    const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock: movedClock() } })
    expect(failure).toBeUndefined()
    expect(await idsIn(warehouse.engine, 'fact_credit_note', 'credit_note_id')).toEqual(['cn2'])
    expect(await stateOf(warehouse.engine, 'cn1')).toMatchObject({
      state: 'refused',
      reason: 'bad answer: a different record than requested',
      retry_after: expect.any(String),
    })
  })

  test('a key that may read no such record is found out after a few, and its ids stay', async () => {
    const sandbox = await openSandbox({ ...roomy, provokesByMuster: ['scope'] })
    const warehouse = await bench.warehouse()
    const ids = sandbox.world.all('requisitions').map(({ id }) => String(id))
    expect(ids.length).toBeGreaterThan(12)
    await signal(
      warehouse.engine,
      ids.map(id => heard('requisitions', id)),
    )
    const { failure, resources } = await syncOnce(sandbox, warehouse, {
      request: { resources: ['requisitions'] },
      connection: { apiKey: 'sandbox-companies-only-key' },
    })
    expect(failure).toBeUndefined()
    expect(resources).toMatchObject([
      { state: 'skipped', note: expect.stringContaining('may not read this') },
    ])
    expect(byId(sandbox.requests).length).toBeLessThan(10)
  })

  test('three refused records are no lost access while a stored one answers', async () => {
    let isClosed = false
    const { sandbox, engine, sync, signalOn } = await openReadById(bench, 'trades', {
      intercept: ({ path }) =>
        path.startsWith('/trades/no') || (isClosed && path.startsWith('/trades/')) ? forbidden : undefined,
    })
    const done = { failure: undefined, resources: [{ state: 'done' }] }
    const ids = sandbox.world.all('trades').map(({ id }) => String(id))
    await signalOn(0, ids)
    expect(await sync(0), 'while all can be read').toMatchObject(done)

    await signalOn(0.01, ['no1', 'no2', 'no3', 'no4'])
    expect(await sync(0.01), 'with four refused ids').toMatchObject(done)
    expect(await stateOf(engine, 'no4'), 'a refused id').toMatchObject({ state: 'refused' })

    isClosed = true
    await signalOn(0.02, ids)
    expect(await sync(0.02), 'when all are refused').toMatchObject({
      failure: { exitCode: 1 },
      resources: [{ state: 'failed' }],
    })
  })

  test('an id for which the service fails leaves the resource incomplete until it is answered', async () => {
    let isBroken = true
    const { sandbox, engine, sync } = await openReadById(bench, 'trades', {
      intercept: ({ path }) =>
        isBroken && path.startsWith('/trades/') && path.endsWith('7') ? { status: 500, body: '' } : undefined,
    })
    const ids = sandbox.world.all('trades').map(({ id }) => String(id))
    await signal(
      engine,
      ['no', 'also-no7', ...ids].map(id => heard('trades', id)),
    )
    const note = expect.stringMatching(/^trades \(saw \d+ of \d+\) incomplete: the service failed to return/)
    const incomplete = { failure: { exitCode: 1 }, resources: [{ state: 'incomplete', note }] }
    expect(await sync(0), 'while the service fails').toMatchObject(incomplete)
    // Not requested again within the hour.
    expect(await sync(0.01), 'within the hour').toMatchObject(incomplete)
    isBroken = false
    expect(await sync(0.1), 'once it is answered').toMatchObject({
      failure: undefined,
      resources: [{ state: 'done' }],
    })
  })

  test.runIf(thorough)(
    '10,000 signals on 300 records cost 300 requests, and none is asked twice within a minute',
    async () => {
      const company = { id: 'c1', name: 'Company 1' }
      const assignments = Array.from({ length: 300 }, (_, n) => ({ id: `a${n}`, company, updatedAt: at }))
      const records = { companies: [{ ...company, updatedAt: at }], assignments }
      const sandbox = await openSandbox({ records, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const ids = assignments.map(({ id }) => id)
      const clock = movedClock()
      const request = { resources: ['assignments'] }
      const burst = Array.from({ length: 10_000 }, (_, index) =>
        heard('assignments', ids[(index * 7) % 300] ?? ''),
      )
      // The second burst comes within a minute of the first; what it asks for is read when that is over.
      for (const [days, wanted] of [
        [0, 300],
        [0, 0],
        [0.001, 300],
      ] as const) {
        clock.state.days = days
        if (days === 0) await signal(warehouse.engine, burst)
        const before = sandbox.requests.length
        const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
        expect(failure).toBeUndefined()
        const asked = byId(sandbox.requests.slice(before))
        expect([days, asked.length, new Set(asked).size]).toEqual([days, wanted, wanted])
      }
    },
  )
})
