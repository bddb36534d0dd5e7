/** Which part of the day pays for a crosscheck. */
import { expect, test } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import { type Grouping, groupingOf } from '../../src/crosscheck/metrics/metric-query.ts'
import { createAsker } from '../../src/crosscheck/metrics/their-metrics.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'

test('a crosscheck is paid from the part for reconciliation, and leaves a sync what it may spend', async () => {
  const sandbox = await openSandbox({ scale: 0.02 })
  const client = createClient({
    ...{ baseUrl: sandbox.url, apiKey: sandboxKeys.company, clock: systemClock },
    ...{ rng: () => 0, version: 'test' },
  })
  try {
    await client.getMe()
    const before = client.usage()
    const asker = createAsker(client, 400)
    for (const name of ['all', 'agency', 'project'])
      await asker.ask({ metric: 'timeToFill', grouping: groupingOf(name) as Grouping })
    const after = client.usage()
    expect(after.usedToday - before.usedToday).toBe(3)
    expect(after.spendableToday).toBe(before.spendableToday)
  } finally {
    await client.close()
  }
})
