/** Ids that are answered 404 or 403: remembered with the reason, and asked again when it makes sense. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import { notWhole } from '../../src/state/scans/wholeness.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { at, byId, heard, idsIn, movedClock, roomy, stateOf } from './by-id.ts'

describeOnEngines('ids that are refused', bench => {
  test('404 and 403 are remembered, and asked again after 1, 2, 4 days, for a signal or another key', async () => {
    const sandbox = await openSandbox({
      ...roomy,
      intercept: ({ path }) =>
        path === '/credit-notes/guarded'
          ? { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
          : undefined,
    })
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const clock = movedClock()
    const request = { resources: ['credit-notes'] }
    const sync = async (days: number, apiKey = sandboxKeys.company) => {
      clock.state.days = days
      const before = sandbox.requests.length
      const { failure } = await syncOnce(sandbox, warehouse, {
        request,
        effects: { clock },
        connection: { apiKey },
      })
      expect(failure).toBeUndefined()
      return byId(sandbox.requests.slice(before)).sort()
    }
    const both = ['/credit-notes/guarded', '/credit-notes/nowhere']
    await signal(engine, [heard('credit-notes', 'nowhere'), heard('credit-notes', 'guarded')])
    expect(await sync(0)).toEqual(both)
    expect(await stateOf(engine, 'nowhere')).toMatchObject({
      state: 'missing',
      reason: 'not found (404)',
      failed_fetches: 1,
    })
    expect(await stateOf(engine, 'guarded')).toMatchObject({
      state: 'refused',
      reason: 'the key may not read this (403)',
      retry_after: expect.stringMatching(/^2026-11-03T10:00/),
    })
    expect([await sync(0.9), await sync(1.1), await sync(3), await sync(3.2)]).toEqual([[], both, [], both])
    await signal(engine, [heard('credit-notes', 'nowhere', new Date(clock.now()).toISOString())])
    clock.state.days = 3.3
    expect(await sync(3.3)).toEqual(['/credit-notes/nowhere'])
    // Another key may see what this one may not.
    expect(await sync(3.4, 'sandbox-one-company-key')).toEqual(both)
    expect(await sync(3.5, 'sandbox-one-company-key')).toEqual([])
  })

  test.each([
    { now: 20, code: undefined },
    { now: 21, code: 3 },
  ])(
    '$now of 50 that were stored before: a few are no failure, more end a run with 3',
    async ({ now, code }) => {
      const count = 50
      const ids = Array.from({ length: count }, (_, n) => `cn${n + 10}`)
      let refused = 0
      const sandbox = await openSandbox({
        ...roomy,
        records: {
          creditNotes: ids.map(id => ({ id, reference: id })),
        },
        // The first ones are given: a resource of which the first few are refused is lost as a whole.
        intercept: ({ path }) =>
          ids.slice(count - refused).some(id => path === `/credit-notes/${id}`)
            ? { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
            : undefined,
      })
      const warehouse = await bench.warehouse()
      const { engine } = warehouse
      const clock = movedClock()
      const sync = async (days: number, refusedNow: number) => {
        clock.state.days = days
        refused = refusedNow
        const at = new Date(clock.now()).toISOString()
        await signal(
          engine,
          ids.map(id => heard('credit-notes', id, at)),
        )
        const { failure } = await syncOnce(sandbox, warehouse, {
          request: { resources: ['credit-notes'] },
          effects: { clock },
        })
        return failure && [failure.exitCode, failure.message]
      }
      const stored = async () =>
        (
          await engine.rows<{ n: number }>(
            `select count(*) as n from star.fact_credit_note where not is_deleted`,
          )
        )[0]?.n
      expect(await sync(0, 0)).toBeUndefined()
      const failure = await sync(1, now)
      // The refused ones are asked first then, and none of them is asked whether the key may read any.
      expect(await sync(2, now)).toEqual(failure)
      const whole = (await notWhole(engine)) ?? []
      expect(Number(await stored())).toBe(count)
      if (code === undefined) return expect([failure, whole]).toEqual([undefined, []])
      expect(failure).toEqual([
        code,
        expect.stringMatching(/too many stored records are refused now: 21 of credit-notes, 20 tolerable/),
      ])
      expect(whole).toEqual([
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
      reason: 'bad answer: another record than the one that was asked for',
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
    const sandbox = await openSandbox({
      ...roomy,
      intercept: ({ path }) =>
        path.startsWith('/trades/no') || (isClosed && path.startsWith('/trades/'))
          ? { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
          : undefined,
    })
    const warehouse = await bench.warehouse()
    const clock = movedClock()
    const request = { resources: ['trades'] }
    const sync = async (days: number, names: readonly string[]) => {
      clock.state.days = days
      const when = new Date(clock.now()).toISOString()
      await signal(
        warehouse.engine,
        names.map(id => heard('trades', id, when)),
      )
      const { failure, resources } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
      return [failure?.exitCode ?? 0, resources[0]?.state]
    }
    const ids = sandbox.world.all('trades').map(({ id }) => String(id))
    expect(await sync(0, ids)).toEqual([0, 'done'])
    const refused = ['no1', 'no2', 'no3', 'no4']
    expect(await sync(0.01, refused)).toEqual([0, 'done'])
    expect(await stateOf(warehouse.engine, 'no4')).toMatchObject({ state: 'refused' })
    isClosed = true
    expect(await sync(0.02, ids)).toEqual([1, 'failed'])
  })

  test('an id for which the service fails leaves the resource incomplete until it is answered', async () => {
    let isBroken = true
    const sandbox = await openSandbox({
      ...roomy,
      intercept: ({ path }) =>
        isBroken && path.startsWith('/trades/') && path.endsWith('7') ? { status: 500, body: '' } : undefined,
    })
    const warehouse = await bench.warehouse()
    const clock = movedClock()
    const ids = sandbox.world.all('trades').map(({ id }) => String(id))
    await signal(
      warehouse.engine,
      ['no', 'also-no7', ...ids].map(id => heard('trades', id)),
    )
    const sync = async (days: number) => {
      clock.state.days = days
      const { failure, resources } = await syncOnce(sandbox, warehouse, {
        request: { resources: ['trades'] },
        effects: { clock },
      })
      return [failure?.exitCode, resources[0]?.state, resources[0]?.note]
    }
    const told = expect.stringMatching(/^trades \(saw \d+ of \d+\) incomplete: the service failed when/)
    expect(await sync(0)).toEqual([1, 'incomplete', told])
    // Not asked again within the hour, and still not whole.
    expect(await sync(0.01)).toEqual([1, 'incomplete', told])
    isBroken = false
    expect((await sync(0.1)).slice(0, 2)).toEqual([undefined, 'done'])
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
