/** Which pages a run archives at its end: none that another run may still be loading. */
import { expect, test } from 'vitest'
import { type Landing, openLanding } from '../../src/landing/landing.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { serviceClock } from '../../src/lib/service-clock.ts'
import { takeLease } from '../../src/state/runs/leases.ts'
import { startRun } from '../../src/state/runs/runs.ts'
import { recordEnd } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { type Bench, describeOnEngines } from '../support/warehouse-fixture.ts'

const startedAt = '2026-03-01T09:00:00.000Z'

/** A landing with a page of each run, the runs that are under way, and the end of one of them. */
async function openLandedRuns(bench: Bench, runIds: readonly string[]) {
  const { engine, landing: root } = await bench.warehouse()
  const landing = openLanding(root)
  for (const runId of runIds) {
    const scan = scanOf(runId)
    await landing.begin(scan, { resource: 'users', scope: {} })
    const bytes = Buffer.from('{"data":[]}')
    await landing.land(scan, { sequence: 1, page: 1, fetchedAt: startedAt, bytes, runId })
  }
  return {
    engine,
    landing,
    start: (runId: string) =>
      startRun(engine, { ...{ runId, startedAt, command: 'sync' }, ...{ arguments: '', version: '' } }),
    end: (runId: string) => endRun(engine, landing, runId),
    /** Scans that a new reader of the folder finds. */
    unarchived: async () => [...(await openLanding(root).unarchived()).keys()],
  }
}

const scanOf = (runId: string): string => `${runId}-users`

const endRun = (engine: Engine, landing: Landing, runId: string) =>
  recordEnd(
    {
      engine,
      landing,
      runId,
      clock: serviceClock(systemClock),
      sent: new Map(),
      events: { reserve: async () => {}, record: async () => {}, settle: async () => {} },
      signal: new AbortController().signal,
    },
    { change: { state: 'done' }, keepAfter: 0 },
  )

describeOnEngines('the end of a run', bench => {
  test('leaves the pages of a run under way, and every page while another run has the landing', async () => {
    const runIds = ['r1', 'r2', 'r3']
    const { engine, landing, start, end, unarchived } = await openLandedRuns(bench, runIds)
    const scans = runIds.map(scanOf)
    for (const runId of ['r2', 'r3']) await start(runId)

    await takeLease(engine, { resource: 'landing', holder: 'r2', ms: 60_000 })
    expect(await end('r3'), 'the end while another run has the landing').toBeUndefined()
    expect(await unarchived(), 'while another run has the landing').toEqual(scans)

    await engine.run('delete from ops.lease')
    expect(await end('r3'), 'the end once the landing is free').toBeUndefined()
    expect(await unarchived(), 'once the landing is free').toEqual(['r2-users', 'r3-users'])
    expect(await landing.scans(), 'all scans').toEqual(scans)
  })
})
