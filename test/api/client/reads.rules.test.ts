/** The typed reads: which request each becomes, and what is refused before it is sent. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../../src/api/client/client.ts'
import { reads } from '../../../src/api/client/reads.ts'
import { operations } from '../../../src/contract/operations.ts'

function setUp() {
  const calls: unknown[][] = []
  const note =
    (name: string) =>
    async (...parts: unknown[]) =>
      void calls.push([name, ...parts])
  const client = { getPage: note('page'), getRecord: note('record') } as unknown as Client
  return { calls, api: reads(client) }
}

describe('a read becomes', () => {
  test.each<[string, (api: ReturnType<typeof reads>) => Promise<unknown>, unknown[]]>([
    ['a page of a list', api => api.listSites(), ['page', '/sites', {}, undefined]],
    [
      'a page with parameters, lists joined and undefined ones left out',
      api => api.listTimesheets({ worker: ['a', 'b'], page: 2, limit: undefined, includeTimelogs: false }),
      ['page', '/timesheets', { worker: 'a,b', page: 2, includeTimelogs: false }, undefined],
    ],
    [
      'a record by id, with options',
      api => api.readTrade('t1', { includeRates: true }, { purpose: 'operator' }),
      ['record', '/trades/t1', { includeRates: true }, { purpose: 'operator' }],
    ],
    ['a record without parameters', api => api.readTrade('t1'), ['record', '/trades/t1', {}, undefined]],
    [
      'a page below a record, with options',
      api => api.listUserPermissions('c1', {}, { purpose: 'reconcile' }),
      ['page', '/companies/c1/user-permissions', {}, { purpose: 'reconcile' }],
    ],
    [
      'a page with options',
      api => api.listSites({}, { purpose: 'reconcile' }),
      ['page', '/sites', {}, { purpose: 'reconcile' }],
    ],
  ])('%s', async (_name, call, expected) => {
    const { api, calls } = setUp()
    await call(api)
    expect(calls).toEqual([expected])
  })

  test('one with what its operation always sends', async () => {
    const { api, calls } = setUp()
    await api.timeToFill({ groupBy: ['company', 'month'] })
    expect(calls[0]?.[2]).toEqual({ groupBy: 'company,month', ...operations.timeToFill.fixed })
  })
})

describe('nothing is sent for', () => {
  test.each<[string, (api: ReturnType<typeof reads>) => Promise<unknown>, string]>([
    ['an id that climbs', api => api.readTrade('../me'), '"../me" is not an id (GET /trades/{id})'],
    [
      'a long id, of which 100 characters are shown',
      api => api.readTrade('x'.repeat(101)),
      `"${'x'.repeat(100)}" is not`,
    ],
    ['an empty list', api => api.listTimesheets({ worker: [] }), 'worker is an empty list (GET /timesheets)'],
  ])('%s', async (_name, call, message) => {
    const { api, calls } = setUp()
    await expect(call(api)).rejects.toThrow(message)
    expect(calls).toEqual([])
  })
})
