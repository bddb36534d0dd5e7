/** The typed reads: what they send, and what they refuse to send. */
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import { BadRequest } from '../../src/api/client/errors.ts'
import { type ReadMethods, reads } from '../../src/api/client/reads.ts'
import type { Operation, ParameterKind } from '../../src/contract/fields/operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'

const sandbox = await openSandbox({ scale: 0.02 })
const clients = [sandboxKeys.company, sandboxKeys.agency].map(apiKey =>
  createClient({ baseUrl: sandbox.url, apiKey, clock: systemClock, rng: () => 0 }),
)
const [api, agencyApi] = clients.map(reads) as [ReadMethods, ReadMethods]
afterAll(async () => void (await Promise.all(clients.map(client => client.close()))))

const entries = Object.entries(operations) as [keyof ReadMethods, Operation][]

/** A right value of each kind. */
function sampleOf(kind: ParameterKind): unknown {
  if (typeof kind === 'object') return Array.isArray(kind) ? kind[0] : (kind as { some: string[] }).some
  return {
    text: 'a',
    id: '0',
    ids: ['0', '1'],
    names: ['id'],
    day: '2026-01-01',
    count: 1,
    number: 48,
    flag: true,
  }[kind]
}

describe.each(entries)('%s', (name, { path, parameters }) => {
  it('sends each parameter so that the service takes it', async () => {
    for (const [parameter, kind] of Object.entries(parameters)) {
      const ofAgency = name === 'listUsers' && parameter === 'agency'
      const call = (ofAgency ? agencyApi : api)[name] as (...all: unknown[]) => Promise<unknown>
      const given = { [parameter]: sampleOf(kind) }
      // Ids that do not exist are refused: 403 or 404, never 400.
      const status = await (path.includes('{id}') ? call('none', given) : call(given)).then(
        () => 200,
        error => error.status,
      )
      expect([parameter, status]).toEqual([parameter, expect.toBeOneOf([200, 403, 404])])
    }
  })
})

describe('what is wrong is not sent', () => {
  it.each([
    ['an id that climbs', () => api.readTrade('../me')],
    ['an id with a query', () => api.readTrade('a?b=c')],
    ['an empty list', () => api.listTimesheets({ worker: [] })],
    ['a limit over 200', () => api.listTimesheets({ limit: 201 })],
  ])('%s', async (_, call) => {
    const before = sandbox.requests.length
    await expect(call()).rejects.toThrow(BadRequest)
    expect(sandbox.requests).toHaveLength(before)
  })
})

it('knows the fields that the declarations name, and no others', async () => {
  const { records } = await api.listTimesheets({ limit: 1, includeTimelogs: true })
  const [timesheet] = records()
  expectTypeOf(timesheet?.netHours).toEqualTypeOf<number | null | undefined>()
  expectTypeOf(timesheet?.timelogs?.[0]?.hours?.total).toEqualTypeOf<number | null | undefined>()
  expectTypeOf(timesheet?.rates?.wd?.uplift).toEqualTypeOf<number | null | undefined>()
  expectTypeOf(timesheet?.notOfTheContract).toEqualTypeOf<unknown>()
  expect([timesheet?.netHours, timesheet?.timelogs?.[0]?.hours?.total]).toEqual([
    expect.any(Number),
    expect.any(Number),
  ])
  expectTypeOf<Parameters<ReadMethods['listExpenses']>[0]>().not.toExtend<{ status?: 'confirmed' }>()
})

it('reads aggregates with what their meta says', async () => {
  const { records, meta } = await api.timeToFill({ groupBy: ['company', 'month'] })
  expect(records()[0]?.group).toHaveProperty('month')
  expect(meta).toMatchObject({ groupBy: 'company,month', dateField: 'dateAccepted', outlierRule: 'IQR_1_5' })
  const over = await api.workersOverHours({ hoursThreshold: 10 })
  expect(over.records()[0]?.values.thresholdHours).toBe(10)
})
