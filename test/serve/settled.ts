/** Waits until every event is answered, and counts what was asked for. */
import { setTimeout as wait } from 'node:timers/promises'
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'
import type { Served } from './served.ts'

/** Several looks at the inbox fit into the time in which a burst arrives. */
export const patient = { tickMs: 50, quietMs: 400, latestMs: 30_000, minMs: 0 }

export async function settled(warehouse: Warehouse, running: Served, events: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    await wait(100)
    const health = (await (await fetch(running.health)).json()) as {
      readonly inbox: { readonly depth: number }
    }
    const [row] = await warehouse.engine.rows<{ n: number }>(
      `select count(*) as n from ops.inbox where state <> 'signalled' and drained_at is not null`,
    )
    if (Number(row?.n) === events && health.inbox.depth === 0) return
  }
  throw new Error(`not settled: ${running.log.join('\n')}`)
}

/** How often each path was asked for, `/me` aside. */
export function asked(requests: readonly SandboxRequest[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { path } of requests) if (path !== '/me') counts[path] = (counts[path] ?? 0) + 1
  return counts
}
