/** Marts over all that the sandbox knows, built as a build does, and a dashboard over them on a real socket. */

import { type Dashboard, type DashboardOptions, startDashboard } from '../../src/dashboard/http/server.ts'
import { MartReader } from '../../src/dashboard/reader.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { openGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt } from '../marts/filled-warehouse.ts'

/** Throws an Error that names the marts that were not built. */
export async function buildAll(engine: Engine): Promise<void> {
  const { marts } = await buildMarts(
    {
      engine,
      clock: { now: () => Date.parse(filledAt), sleep: async () => undefined },
      rng: seededRng(1),
      signal: new AbortController().signal,
      version: 'test',
      gate: openGate,
      onMart: () => undefined,
    },
    { marts: readMarts(), names: [], all: false },
  )
  const failed = marts
    .filter(({ state }) => state !== 'built')
    .map(({ name, message }) => `${name}: ${message}`)
  if (failed.length > 0) throw new Error(failed.join('\n'))
}

export interface Served extends Dashboard {
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
