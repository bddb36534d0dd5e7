/** Which pages are put away when a run ends: not those that another run may still be loading. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLanding } from '../../src/landing/folder.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { serviceClock } from '../../src/lib/time/service-clock.ts'
import { takeLease } from '../../src/state/runs/leases.ts'
import { startRun } from '../../src/state/runs/runs.ts'
import { recordEnd } from '../../src/sync/run/run-end.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'

describeOnEngines('the end of a run', bench => {
  test('leaves the pages of a run under way, and of a landing that another is at', async () => {
    const { engine, landing: root } = await bench.warehouse()
    const landing = openLanding(root)
    const scans = ['r1-users', 'r2-users', 'r3-users']
    for (const scan of scans) await landing.begin(scan, { resource: 'users', scope: {} })
    for (const runId of ['r2', 'r3'])
      await startRun(engine, {
        runId,
        command: 'sync',
        arguments: '',
        startedAt: '2026-03-01T09:00:00Z',
        version: '',
      })
    const end = (runId: string) =>
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
    const other = { resource: 'landing', holder: 'r2', ms: 60_000 }
    await takeLease(engine, other)
    expect(await end('r3')).toBeUndefined()
    expect(await landing.scans()).toEqual(scans)
    await engine.run('delete from ops.lease')
    expect(await end('r3')).toBeUndefined()
    expect(await landing.scans()).toEqual(['r2-users', 'r3-users'])
    expect(await openLanding(join(root)).scans()).toHaveLength(2)
  })
})
