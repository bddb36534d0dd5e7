/** A dashboard over a warehouse of tests, on a real socket. */

import { MartReader } from '../../src/dashboard/reader.ts'
import { type DashboardOptions, type DashboardServer, startDashboard } from '../../src/dashboard/server.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

export interface Served extends DashboardServer {
  readonly reader: MartReader
  get(path: string, headers?: Record<string, string>): Promise<Response>
}

const local: DashboardOptions = { host: '127.0.0.1', port: 0, allowedHosts: [] }

/** The engine stays open: it is the caller's. */
export async function serveDashboard(
  engine: Engine,
  options: Partial<DashboardOptions> = {},
): Promise<Served> {
  const kept = Object.assign(Object.create(engine) as Engine, { close: async () => undefined })
  const reader = new MartReader({ open: async () => kept, stamp: () => '' }, systemClock)
  const dashboard = await startDashboard(reader, { ...local, ...options })
  return {
    ...dashboard,
    reader,
    get: (path, headers = {}) => fetch(new URL(path, dashboard.url), { headers }),
  }
}
