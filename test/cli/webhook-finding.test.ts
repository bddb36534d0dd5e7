/** What doctor says of webhooks, which is nothing where nobody receives any. */
import { expect, test } from 'vitest'
import { webhookFindings } from '../../src/app/checkup/warehouse.ts'
import { Secret } from '../../src/config/secret.ts'
import { useEngines } from '../warehouse/fixture.ts'

const made = useEngines()
const webhook = { secret: new Secret('planted-new-secret'), headerPrefix: 'X-Service' }

test('a secret is well, two of them are a reminder, none is a word only where events were received', async () => {
  const { engine } = await made.duckdb()
  const states = async (given: Parameters<typeof webhookFindings>[0]) =>
    (await webhookFindings(given, engine)).map(({ state, found }) => `${state} ${found}`)
  expect(await states({})).toEqual([])
  expect(await webhookFindings({}, undefined)).toEqual([])
  expect(await states({ webhook })).toEqual(['ok a signing secret; headers begin with X-Service'])
  const two = { webhook: { ...webhook, previousSecret: new Secret('planted-old-secret') } }
  expect(await states(two)).toEqual(['warn two signing secrets are accepted'])
  await engine.run(
    `insert into ops.inbox (event_id, type, received_at, deliveries, state)
     values ('e', 'test', '2026-11-21T10:00:00Z', 1, 'test')`,
  )
  expect(await states({})).toEqual(['warn events were received earlier, but there is no signing secret now'])
})
