/** Floods of requests for state and figures: bounded, computed once, and never in the way of a webhook. */
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { attackedReceiver, good } from './attacked.ts'
import { rawPost, sendRaw } from './raw-request.ts'
import { post, signed } from './served.ts'

const receiver = attackedReceiver()

const get = (path: string, host = 'localhost', more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`

test.each(['/metrics', '/health', '/nothing'])(
  '20,000 pipelined requests for %s get a few answers, then 503 and the end of the connection',
  async path => {
    let computed = 0
    const text = 'muster_figure 1\n'.repeat(3000)
    const { url, close } = await receiver.start(
      {},
      {
        metrics: async () => {
          computed += 1
          await new Promise(resolve => setTimeout(resolve, 20))
          return { contentType: 'text/plain', text }
        },
      },
    )
    const began = performance.now()
    const flood = sendRaw(url, [get(path).repeat(20_000)], { lingerMs: 1000 })
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => post(url, signed(good(), { timestamp: receiver.at(0) }))),
    )
    expect(statuses.every(status => status === 202)).toBe(true)
    // Senders give up after ten seconds.
    expect(performance.now() - began).toBeLessThan(5000)
    const answers = await flood
    expect(answers.isClosed).toBe(true)
    expect(answers.statuses.length).toBeLessThanOrEqual(9)
    expect(answers.statuses.filter(status => status === 503).length).toBeLessThanOrEqual(1)
    expect(computed).toBeLessThanOrEqual(1)
    await close()
  },
)

test('1,000 connections that ask for figures at once are refused in part, and a webhook is taken meanwhile', async () => {
  let release: () => void = () => undefined
  const answered = new Promise<void>(resolve => (release = resolve))
  const { url, close } = await receiver.start(
    {},
    {
      metrics: async () => {
        await answered
        return { contentType: 'text/plain', text: '' }
      },
    },
  )
  const statuses: (number | undefined)[] = []
  const asking = Array.from({ length: 1000 }, async () => {
    const answer = await sendRaw(url, [get('/metrics')])
    statuses.push(answer.statuses[0])
  })
  await expect.poll(() => statuses.length, { timeout: 10_000 }).toBe(936)
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(await post(url, signed(good(), { timestamp: receiver.at(0) }))).toBe(202)
  release()
  await Promise.all(asking)
  expect(statuses.filter(status => status === 200)).toHaveLength(64)
  await close()
})

test('a name of --allow-host reaches the webhook path alone', async () => {
  for (const path of ['/health', '/metrics', '/nothing', '/%68ealth', 'http://localhost/metrics'])
    expect((await sendRaw(receiver.url, [get(path, 'hooks.example.com')])).statuses).toEqual([421])
  await receiver.takes(() =>
    receiver.put(signed(good(), { timestamp: receiver.at(0) }), {
      drop: ['Host'],
      extra: ['Host: hooks.example.com'],
    }),
  )
})

test('a proxy that passes the name of this machine on reaches no figures', async () => {
  for (const header of ['Forwarded: for=1', 'Via: 1.1 x', 'X-Forwarded-For: 1.2.3.4', 'X-Real-IP: 1.2.3.4'])
    expect((await sendRaw(receiver.url, [get('/metrics', 'localhost', `${header}\r\n`)])).statuses).toEqual([
      421,
    ])
})

test('figures are answered under a name of --figures-host', async () => {
  const { url, close } = await receiver.start({ figuresHosts: ['Monitor.example.com'] })
  expect((await sendRaw(url, [get('/metrics', 'monitor.example.com:9090')])).statuses).toEqual([200])
  expect(
    (
      await sendRaw(url, [
        rawPost(url, signed(good()), { drop: ['Host'], extra: ['Host: monitor.example.com'] }),
      ])
    ).statuses,
  ).toEqual([421])
  await close()
})

const address = Object.values(networkInterfaces())
  .flat()
  .find(one => one?.family === 'IPv4' && !one.internal)?.address

test.runIf(address)('another machine that claims to be addressed as localhost gets no figures', async () => {
  const { url, close } = await receiver.start({ host: '0.0.0.0' })
  const { port } = new URL(url)
  const outside = `http://${address}:${port}/`
  for (const host of ['localhost', '127.0.0.1', '[::1]', `${address}:${port}`])
    expect((await sendRaw(outside, [get('/health', host)])).statuses).toEqual([421])
  expect((await sendRaw(`http://127.0.0.1:${port}/`, [get('/health', 'localhost')])).statuses).toEqual([200])
  await close()
})
