/** Deliveries to a machine whose clock is wrong are judged and dated by the service. */
import { expect, test } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'

describeOnEngines('a machine whose clock is wrong', bench => {
  test.each([-2 * dayMs, -2 * hourMs, 2 * hourMs, 2 * dayMs])(
    'by %s ms takes the deliveries of the service, and dates them by it',
    async shift => {
      const sandbox = await keptSandbox({ records: {}, clock: systemClock })
      const warehouse = await bench.warehouse()
      const clock: Clock = { ...systemClock, now: () => systemClock.now() + shift }
      let measured: () => void = () => undefined
      const isMeasured = new Promise<void>(done => (measured = done))
      const running = await served(warehouse, {
        clock,
        baseUrl: sandbox.url,
        measure: async (_, own) => {
          const client = createClient({
            ...{ baseUrl: sandbox.url, apiKey: sandboxKeys.company, clock: own, rng: () => 0 },
            onDate: date => own.observe(date),
          })
          await client.getMe().finally(() => client.close())
          measured()
        },
      })
      await isMeasured
      expect(await post(running.url, signed(eventBody('evt1')))).toBe(202)
      await running.stop()
      const [row] = await warehouse.engine.rows<{ at: string }>(
        'select received_at as at from star.fact_webhook_event',
      )
      expect(Math.abs(Date.parse(row!.at) - systemClock.now())).toBeLessThan(minuteMs)
    },
  )
})
