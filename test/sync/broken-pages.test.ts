/** Pages that turn out to be no JSON only when they are loaded, at the end of a window of a backfill. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const request = { resources: ['key', 'timesheets'] }

/** The service's own answer with a control character in the middle, which JSON forbids and no edge shows. */
async function broken(url: string, { path, query }: SandboxRequest) {
  const answer = await fetch(`${url}${path}?${new URLSearchParams(query as Record<string, string>)}`, {
    headers: { authorization: `Bearer ${sandboxKeys.company}` },
  })
  const body = await answer.text()
  const middle = Math.floor(body.length / 2)
  return { status: 200, body: `${body.slice(0, middle)}\u0001${body.slice(middle)}` }
}

/** Breaks the page that ends a scan, so many times for each list of created days. */
async function breaking(count: number, times: number) {
  const left = new Map<string, number>()
  const sandbox = await openSandbox({
    records: plainRecords({ timesheets: count }, { minutesApart: 45 }),
    ...roomy,
    intercept: request => {
      const { client = '', query } = request
      const isScan = query.limit === '200' && query.dateField !== 'updatedAt'
      if (!client.startsWith('muster/') || query.page !== '1' || !isScan) return undefined
      const days = `${query.from} ${query.to}`
      const still = left.get(days) ?? times
      left.set(days, still - 1)
      return still > 0 ? broken(sandbox.url, request) : undefined
    },
  })
  return sandbox
}

describeOnEngines('a page that is no JSON', bench => {
  test('is asked for again once; the record that breaks it goes to quarantine then, and the scan goes on', async () => {
    const sandbox = await breaking(430, 3)
    const warehouse = await bench.warehouse()
    const first = await syncOnce(sandbox, warehouse, { request })
    expect(first.failure).toBeUndefined()
    const [held] = await warehouse.engine.rows('select count(*)::integer as n from star.fact_timesheet')
    expect(held).toEqual({ n: 429 })
    const [bad] = await warehouse.engine.rows('select reason from ops.quarantine')
    expect(bad).toEqual({ reason: 'not JSON' })
  })

  test('makes no window of a backfill come twice', async () => {
    const sandbox = await breaking(10_100, 1)
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, { request })
    expect(outcome.failure).toBeUndefined()
    const windows = await warehouse.engine.rows<{ from_day: string | null; state: string }>(
      `select from_day, state from ops.scan where kind = 'backfill' order by scan_id`,
    )
    expect(windows.length).toBeGreaterThan(1)
    expect(new Set(windows.map(({ from_day: from }) => from)).size).toBe(windows.length)
    expect(new Set(windows.map(({ state }) => state))).toEqual(new Set(['accepted']))
    const [row] = await warehouse.engine.rows<{ watermark: string | null }>(
      'select watermark from ops.watermark',
    )
    expect(row?.watermark).not.toBeNull()
  })
})
