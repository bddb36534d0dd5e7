/** Calibrations and crosschecks of a warehouse against a sandbox, over real HTTP. */
import { createClient } from '../../src/api/client/client.ts'
import { type Calibration, calibrate } from '../../src/crosscheck/calibrate/calibrate.ts'
import { recordCalibration } from '../../src/crosscheck/calibrate/definition-store.ts'
import { type CrosscheckResult, crosscheck } from '../../src/crosscheck/crosscheck.ts'
import type { DefinitionInForce } from '../../src/crosscheck/metrics/definition.ts'
import { type Grouping, groupingOf } from '../../src/crosscheck/metrics/metric-query.ts'
import { createAsker } from '../../src/crosscheck/metrics/their-metrics.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

/** Each key, and combinations of two and three. */
const everyGrouping = [
  'all',
  'company',
  'project',
  'agency',
  'month',
  'week',
  'company,month',
  'project,agency',
  'agency,week',
  'project,agency,month',
]

const at = '2026-11-02T03:00:00.000Z'

export interface Checking {
  calibrated(): Promise<Calibration & DefinitionInForce>
  checked(inForce: DefinitionInForce, groupings?: readonly string[]): Promise<CrosscheckResult>
}

export function checking(sandbox: Pick<Sandbox, 'url'>, engine: Engine): Checking {
  const withAsker = async <Result>(work: (asker: ReturnType<typeof createAsker>) => Promise<Result>) => {
    const client = createClient({
      ...{
        baseUrl: sandbox.url,
        apiKey: sandboxKeys.company,
        clock: systemClock,
        rng: () => 0,
        version: 'test',
      },
    })
    try {
      return await work(createAsker(client, 200))
    } finally {
      await client.close()
    }
  }
  return {
    calibrated: () =>
      withAsker(async asker => {
        const found = await calibrate({ engine, asker })
        return { ...found, ...(await recordCalibration(engine, found, { runId: 'run-2', at })) }
      }),
    checked: (inForce, groupings = everyGrouping) =>
      withAsker(asker =>
        crosscheck(
          { engine, asker, runId: 'run-3', now: () => at },
          { groupings: groupings.map(text => groupingOf(text) as Grouping), range: {}, inForce },
        ),
      ),
  }
}
