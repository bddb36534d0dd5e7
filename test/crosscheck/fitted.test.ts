/** When a crosscheck calibrates by itself: not on incomplete data, and again when the definition stops explaining. */
import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import { readDefinition } from '../../src/crosscheck/calibrate/definition-store.ts'
import {
  crosscheckFitted,
  explainsInstead,
  hasStoppedExplaining,
  incompleteAmong,
} from '../../src/crosscheck/fitted.ts'
import { type Grouping, groupingOf } from '../../src/crosscheck/metrics/metric-query.ts'
import { createAsker } from '../../src/crosscheck/metrics/their-metrics.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'

const missing = (resource: string, seen: number | null, expected: number | null) => ({
  ...{ resource, reason: 'never read completely', seen, expected },
})

describe('what keeps a calibration from beginning', () => {
  test.each([
    [98, 100, 1],
    [99, 100, 0],
    [null, null, 1],
    [0, 0, 1],
  ])('timesheets with %s of %s records', (seen, expected, length) => {
    expect(incompleteAmong([missing('timesheets', seen, expected)])).toHaveLength(length)
  })

  test('of the resources behind the metrics only', () => {
    const found = ['requisitions', 'invoices'].map(name => missing(name, 12, 25))
    expect(incompleteAmong(found).map(({ resource }) => resource)).toEqual(['requisitions'])
  })

  test.each([
    [10, 100, false],
    [11, 100, true],
    [0, 0, false],
  ])('%i of %i figures unexplained: another definition is looked for: %s', (left, compared, is) => {
    expect(hasStoppedExplaining(left, compared)).toBe(is)
  })

  test.each([
    [10, 100, true],
    [11, 100, false],
  ])('a definition that leaves %i of %i is adopted: %s', (left, before, is) => {
    expect(explainsInstead(left, before)).toBe(is)
  })
})

describe('a crosscheck', () => {
  const filled = useFilled()

  async function check(url: string, engine: Engine) {
    const lines: string[] = []
    const client = createClient({
      ...{ baseUrl: url, apiKey: sandboxKeys.company, clock: systemClock, rng: () => 0, version: 'test' },
    })
    const effects = { engine, runId: 'run-2', now: () => '2026-11-02T03:00:00.000Z' }
    const groupings = ['all', 'agency', 'month'].map(text => groupingOf(text) as Grouping)
    try {
      const asker = createAsker(client, 400)
      const fitted = await crosscheckFitted(
        { ...effects, asker, say: line => lines.push(line) },
        { groupings, range: {}, isAsked: false },
      )
      return { ...fitted, lines }
    } finally {
      await client.close()
    }
  }

  test('does not calibrate before the lists are read to the end, and calibrates anew when the service computes otherwise', async () => {
    const { engine } = await filled.duckdb()
    const first = await openSandbox({ scale: 0.2, options: { quantiles: 'type6', 'week-start': 'sunday' } })
    // A sync that stopped before it came to the list.
    await engine.run(
      `insert into ops.run (run_id, command, arguments, state, started_at, requests, retries, records_read, rows_inserted,
         rows_changed, rows_removed, records_unchanged, quarantined, program_version)
       values ('run-1', 'sync', 'timesheets', 'stopped', '2026-11-02T02:00:00Z', 0, 0, 0, 0, 0, 0, 0, 0, 'test')`,
    )
    await expect(check(first.url, engine)).rejects.toThrow(
      /^not calibrated, as records behind the metrics are missing \(timesheets: .+\): run muster sync/,
    )
    expect(first.requests).toHaveLength(0)
    expect((await readDefinition(engine)).isCalibrated).toBe(false)
    await engine.run(`delete from ops.run where run_id = 'run-1'`)
    const calibrated = await check(first.url, engine)
    expect(calibrated.checked.rows.filter(({ verdict }) => verdict === 'unexplained')).toEqual([])

    const other = await openSandbox({
      scale: 0.2,
      options: { quantiles: 'type6', 'fill-days': 'ceil', 'hours-statuses': ['approved', 'pending'] },
    })
    const again = await check(other.url, engine)
    expect(again.checked.rows.filter(({ verdict }) => verdict === 'unexplained')).toEqual([])
    expect(again.lines).toEqual([
      expect.stringMatching(/^definition \w{12} leaves \d+ of \d+ figures unexplained: finding out again$/),
      expect.stringMatching(/^calibrated again: definition \w{12} replaces \w{12}; muster build/),
    ])
    expect((await readDefinition(engine)).id).toBe(again.inForce.id)
  })
})
