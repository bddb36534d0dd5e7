/** Connections that hang, break, lie or are not trusted, over real sockets. */
import type { ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/api/client/client.ts'
import type { FetchOptions } from '../../src/api/client/wire.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { selfSigned } from '../support/certificate.ts'
import { failure, json, KEY, listPage, startService, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

/** Waits of retries cost no time here; requests are real. */
const quick = () => ({ clock: virtualClock() })

function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

type Misbehave = (response: ServerResponse) => void

function breakOff(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, headers)
  response.write('{"success":true')
  setTimeout(() => response.destroy(), 10)
}

describe('a connection', () => {
  it.each<[string, Misbehave]>([
    ['is reset', response => response.socket?.resetAndDestroy()],
    ['is closed without a word', response => response.destroy()],
    ['breaks off in a chunked body', response => breakOff(response, {})],
    ['breaks off before Content-Length', response => breakOff(response, { 'content-length': '1000' })],
  ])('that %s is tried again, six times in all', (_name, misbehave) =>
    withClient(
      (asked, response) =>
        asked.nth === 1 || asked.path === '/users'
          ? misbehave(response)
          : json(response, 200, listPage(asked, 1)),
      async (client, service) => {
        expect((await client.getPage('/sites')).meta.total).toBe(1)
        expect(service.asked).toHaveLength(2)
        const error = await failure(client.getPage('/users'))
        expect([error.name, service.asked.length]).toEqual(['RetriableError', 8])
        expect(error.message).toMatch(
          /^the connection to 127.0.0.1:\d+ broke \(GET \/users\?page=1&limit=200, sent 6 times: /,
        )
      },
      quick(),
    ),
  )

  // undici counts its timeouts in steps of about a second, whatever is asked for.
  it.concurrent.each<[string, FetchOptions, Misbehave]>([
    ['before the headers', { headersTimeout: 100 }, () => {}],
    ['in the body', { bodyTimeout: 100 }, response => void response.write('{"success":')],
    ['with a body that trickles for ever', { totalTimeout: 150 }, trickle],
  ])('that hangs %s is tried again', (_name, fetchOptions, misbehave) =>
    withClient(
      (asked, response) => (asked.nth === 1 ? misbehave(response) : json(response, 200, listPage(asked, 1))),
      async (client, service) => {
        expect((await client.getPage('/sites')).meta.total).toBe(1)
        expect(service.asked).toHaveLength(2)
      },
      { ...quick(), fetchOptions },
    ),
  )

  it('that never answers says so in the end', () =>
    withClient(
      () => {},
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect(error.message).toContain('did not answer in time (GET /sites')
      },
      { ...quick(), fetchOptions: { totalTimeout: 40 } },
    ))

  it('is cut when the answer is over the cap, at the cap', async () => {
    let sent = 0
    await withClient(
      (_asked, response) => {
        const piece = Buffer.alloc(64 * 1024, 32)
        const pump = () => {
          while (!response.destroyed && response.write(piece)) sent += piece.length
        }
        response.on('drain', pump)
        pump()
      },
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect([error.name, error.message]).toEqual([
          'AnswerTooLarge',
          expect.stringContaining('more than 1000000 bytes'),
        ])
        expect(sent).toBeLessThan(6 * 20_000_000)
      },
      { ...quick(), fetchOptions: { maxBytes: 1_000_000 } },
    )
  })

  it('takes an answer that is slow but whole', () =>
    withClient(
      (asked, response) => {
        const text = JSON.stringify(listPage(asked, 2))
        response.write(text.slice(0, 20))
        setTimeout(() => response.write(text.slice(20, 40)), 30)
        setTimeout(() => response.end(text.slice(40)), 60)
      },
      async client => expect((await client.getPage('/sites')).records()).toHaveLength(2),
      { fetchOptions: { bodyTimeout: 1_000 } },
    ))

  it.each([
    ['http://127.0.0.1:PORT/api', 'accepts no connection', 'check host and port'],
    ['https://no-such-host.invalid/api', 'cannot be resolved', 'check baseUrl for a misspelt host'],
  ])('to %s says what to check', async (address, what, next) => {
    const gone = await startService(() => {})
    await gone.close()
    const baseUrl = address.replace('PORT', String(gone.port))
    const client = createClient({ baseUrl, apiKey: KEY, rng: () => 0, ...quick() })
    const error = await failure(client.getPage('/sites'))
    expect(error.name).toBe('RetriableError')
    expect(error.message).toContain(what)
    expect(error.message).toContain(next)
    await client.close()
  })
})

describe('TLS', () => {
  it('to a server with a certificate of its own making is a matter of settings, not of retries', async () => {
    let asked = 0
    const server = createHttps(selfSigned(), (_request, response) => {
      asked += 1
      response.end()
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const baseUrl = `https://127.0.0.1:${port}/api`
    const client = createClient({ baseUrl, apiKey: KEY, clock: systemClock, rng: () => 0 })
    const error = await failure(client.getMe())
    expect([error.name, error.exitCode, asked]).toEqual(['ConfigError', 78, 0])
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
    await client.close()
    server.close()
  })

  it('to a port that speaks plain http', async () => {
    const service = await startService(() => {})
    const baseUrl = service.baseUrl.replace('http:', 'https:')
    const client = createClient({ baseUrl, apiKey: KEY, clock: systemClock, rng: () => 0 })
    expect((await failure(client.getMe())).name).toBe('ConfigError')
    await client.close()
    await service.close()
  })
})

describe('something that is not HTTP', () => {
  it('is a broken connection', async () => {
    const server = createSocket(socket => socket.on('error', () => {}).end('220 mail.example.com ESMTP\r\n'))
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}/api`
    const client = createClient({ baseUrl, apiKey: KEY, rng: () => 0, ...quick() })
    expect((await failure(client.getMe())).message).toContain('broke')
    await client.close()
    server.close()
  })
})
