/** What doctor says of webhooks, which is nothing where nobody receives any. */
import { expect, test } from 'vitest'
import { webhookFindings } from '../../src/app/checkup/warehouse.ts'
import { Secret } from '../../src/config/secrets.ts'
import { useEngines } from '../support/warehouse-fixture.ts'

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

test.each([
  ['s', 'has 1 byte, fewer than 16'],
  ['fifteen-bytes-1', 'has 15 bytes, fewer than 16'],
  ['sixteen-bytes-12', undefined],
  ['abcdefgabcdefgabcdefg', 'has fewer than 8 different characters'],
  ['abcdefghabcdefghabcde', undefined],
  ['12345678901234567890', 'has digits only'],
  ['X-Service-Signature', 'begins like the headers'],
  ['x-service-signature', 'begins like the headers'],
  ['ACME_WEBHOOK_SECRET', 'is the name of a variable'],
  ['changeme-changeme-now', 'is a placeholder'],
  ['your webhook secret here', 'is a placeholder'],
  ['5f1d7a0e9c3b48d6a2e4f7819b0c6d35', undefined],
])('of the secret %j doctor says: %s', async (text, weakness) => {
  const secret = new Secret(text)
  const [finding] = await webhookFindings({ webhook: { ...webhook, secret } }, undefined)
  expect(finding?.state).toBe(weakness === undefined ? 'ok' : 'warn')
  if (weakness !== undefined) expect(finding?.found).toBe(`the signing secret ${weakness}`)
  const previous = { ...webhook, previousSecret: secret }
  const others = (await webhookFindings({ webhook: previous }, undefined)).slice(1)
  expect(others.map(({ found }) => found)).toEqual(
    weakness === undefined ? [] : [`the previous secret ${weakness}`],
  )
})

test('doctor says that a previous secret is the current one', async () => {
  const same = { webhook: { ...webhook, previousSecret: webhook.secret } }
  expect((await webhookFindings(same, undefined)).map(({ found }) => found)).toEqual([
    'the previous secret is the signing secret',
  ])
})
