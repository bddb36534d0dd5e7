/** What tests of records that are read by id share: their requests, their ids, and days that pass between runs. */
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type OpenOptions, openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, syncOnce } from '../support/warehouse-fixture.ts'

export const byIdNames = ['trades', 'purchase-orders', 'credit-notes', 'requisitions', 'assignments', 'rates']
export const roomy = { scale: 0.03, rateLimitPerDay: 1_000_000 }
const dayMs = 86_400_000
export const at = '2026-11-02T10:00:00.000Z'

/** Requests for single records, by their path; company settings and the like are lists. */
export const byId = (requests: readonly SandboxRequest[]): string[] =>
  requests
    .map(({ path }) => path)
    .filter(
      path =>
        byIdNames.includes(path.split('/')[1] ?? '') &&
        path.split('/').length === 3 &&
        !path.endsWith('-metrics'),
    )

/** Days pass between runs; within them time goes as it does. */
export function movedClock() {
  const started = Date.now()
  const state = { days: 0 }
  const now = (): number => Date.parse(at) + state.days * dayMs + Date.now() - started
  const sleep = async (ms: number): Promise<void> => {
    state.days += ms / dayMs
  }
  return { state, now, sleep }
}

export const heard = (resource: string, recordId: string, when = at) => ({
  resource,
  recordId,
  source: 'event',
  at: when,
})

export async function idsIn(engine: Engine, table: string, key: string): Promise<string[]> {
  const real = table.startsWith('dim_') ? `and not is_inferred and ${key} <> '-1'` : ''
  const rows = await engine.rows<{ id: string }>(
    `select ${key} as id from star.${table} where not is_deleted ${real} order by 1`,
  )
  return rows.map(({ id }) => id)
}

/** A warehouse of assignments that are read by id, synced on a given day, and what it has stored of them. */
export async function openAssignments(bench: Bench, options: OpenOptions) {
  const sandbox = await openSandbox(options)
  const warehouse = await bench.warehouse()
  const clock = movedClock()
  const { engine } = warehouse
  return {
    sandbox,
    engine,
    sync: (day: number) => {
      clock.state.days = day
      return syncOnce(sandbox, warehouse, { request: { resources: ['assignments'] }, effects: { clock } })
    },
    /** Changes and days of exposure of each, rounded. */
    exposure: async (): Promise<number[][]> => {
      const rows = await engine.rows<{ changes: number; exposure_days: number }>(
        `select changes, exposure_days from ops.discovered where resource = 'assignments' order by record_id`,
      )
      return rows.map(row =>
        [row.changes, row.exposure_days].map(number => Math.round(Number(number) * 100) / 100),
      )
    },
    reference: async (): Promise<string | undefined> =>
      (await engine.rows<{ reference: string }>('select reference from star.fact_assignment'))[0]?.reference,
  }
}

export const stateOf = async (engine: Engine, recordId: string) => {
  const [row] = await engine.rows<{
    state: string
    reason: string
    failed_fetches: number
    retry_after: string
  }>('select state, reason, failed_fetches, retry_after from ops.discovered where record_id = $1', [recordId])
  return row && { ...row, failed_fetches: Number(row.failed_fetches) }
}
