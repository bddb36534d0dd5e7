/** `muster sandbox --webhook`: events from a command line, and the mistakes one can make in it. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openReceiver, refusal } from '../sandbox/events/receiver.ts'
import { captured, muster } from '../support/captured-world.ts'

const env = { MUSTER_WEBHOOK_SECRET: 'planted-one', OTHER_SECRET: 'planted-two' }

test('sends a burst, signed as asked, to several webhooks, and counts it at the end', async () => {
  const first = await openReceiver()
  const second = await openReceiver()
  const stop = new AbortController()
  const { world, out, err } = captured({ signal: stop.signal, env, clock: systemClock })
  const line = [
    `sandbox --scale 0.02 --json --webhook ${first.url} --webhook ${second.url}`,
    '--webhook-kind company --webhook-kind agency',
    '--webhook-secret-env MUSTER_WEBHOOK_SECRET --webhook-secret-env OTHER_SECRET',
    '--webhook-events timesheet_approved,trade_amended --webhook-events timesheet_amended',
    '--webhook-signature sha256=base64 --webhook-timestamp seconds --webhook-header-prefix X-Acme',
    '--webhook-burst 400',
  ]
  const ended = muster(line.join(' '), world)
  await expect
    .poll(() => first.received.length > 20 && second.received.length > 0, { timeout: 20_000 })
    .toBe(true)
  const { webhooks } = JSON.parse(out())
  expect(webhooks[0]).toMatchObject({ kind: 'company', events: ['timesheet_approved', 'trade_amended'] })
  expect(webhooks.at(-1)).toMatchObject({ name: 'webhook 2', kind: 'agency', events: ['timesheet_amended'] })
  const reading = {
    encoding: 'base64',
    prefix: 'sha256=',
    headerPrefix: 'x-acme',
    nowMs: Date.now(),
  } as const
  expect(await refusal(first.received[0]!, { ...reading, secret: 'planted-one' })).toBeUndefined()
  expect(await refusal(second.received[0]!, { ...reading, secret: 'planted-two' })).toBeUndefined()
  stop.abort()
  expect((await ended).code).toBe(0)
  const count = first.received.length + second.received.length
  expect(err()).toMatch(new RegExp(`^Deliveries of events: ${count} delivered(, \\d+ unsent)?\n$`))
  expect(out() + err()).not.toContain('planted')
})

test('says in the announcement where events go', async () => {
  const { code, out } = await muster('sandbox --scale 0.01 --webhook http://127.0.0.1:1/hook', {
    env,
    signal: AbortSignal.abort(),
  })
  expect(code).toBe(0)
  expect(out).toMatch(/\nSigned events go to\n( {2}webhook 1\S*.*: 41 event types of company \w{24}\n)+\n/)
  expect(out).toContain('Deliveries of events: none\n')
})

const hook = '--webhook http://127.0.0.1:1/hook'

test.each([
  [hook, 78, 'MUSTER_WEBHOOK_SECRET is not set'],
  [`${hook} --webhook-secret-env NONE`, 78, 'NONE is not set'],
  ['--webhook-kind agency', 2, 'events have nowhere to go: add --webhook URL'],
  ['--webhook-burst 5', 2, 'events have nowhere to go: add --webhook URL'],
  [
    `${hook} --webhook-kind agency --webhook-kind company`,
    2,
    '--webhook-kind is given 2 times for 1 webhooks',
  ],
  [`${hook} --webhook-kind site`, 2, 'Give one of company, agency.'],
  [`${hook} --webhook-events timesheet_aproved`, 2, 'is not an event type, did you mean timesheet_approved?'],
  [`${hook} --webhook-events requisition_received`, 2, 'cannot subscribe to requisition_received'],
  [`${hook} --webhook-company nobody`, 2, 'belongs to no company of the sandbox'],
  [`${hook} --webhook-signature sha1`, 2, 'Give one of hex, base64, sha256=hex, sha256=base64.'],
])('%s', async (line, code, message) => {
  const given = code === 78 ? {} : env
  const done = await muster(`sandbox --scale 0.01 ${line}`, { env: given, signal: AbortSignal.abort() })
  expect(done.err).toContain(message)
  expect(done.err.trimEnd().split('\n')).toHaveLength(1)
  expect(done.code).toBe(code)
})
