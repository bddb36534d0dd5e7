/** What tests of records that are read by id share: their requests, their ids, and days that pass between runs. */
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

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

export const stateOf = async (engine: Engine, recordId: string) => {
  const [row] = await engine.rows<{
    state: string
    reason: string
    failed_fetches: number
    retry_after: string
  }>('select state, reason, failed_fetches, retry_after from ops.discovered where record_id = $1', [recordId])
  return row && { ...row, failed_fetches: Number(row.failed_fetches) }
}
