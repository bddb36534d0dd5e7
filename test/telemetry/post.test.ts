/** A message is sent over TLS that is checked, whatever the environment says. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { post } from '../../src/telemetry/post.ts'
import { selfSigned } from '../support/certificate.ts'
import { bare, startService } from '../support/http-service.ts'

afterEach(() => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
})

const receiver = (url: string) => ({
  url,
  token: 'token',
  proxies: {},
  timeoutMs: 2_000,
  signal: new AbortController().signal,
})

test('a receiver with an untrusted certificate gets nothing, also where NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
  const arrived: string[] = []
  const server = createServer(selfSigned(), (request, response) => {
    arrived.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const { port } = server.address() as AddressInfo
  expect(await post(receiver(`https://localhost:${port}/hook`), {})).toBe(
    'it could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)',
  )
  expect(arrived).toEqual([])
  await new Promise(done => server.close(done))
})

test('a proxy that is no address, or is not there, is the reason', async () => {
  const sent = (https: string) => post({ ...receiver('https://hooks.example.com/x'), proxies: { https } }, {})
  expect(await sent('socks5://127.0.0.1:1')).toContain('HTTPS_PROXY is not the address of an HTTP proxy')
  expect(await sent('http://me:secret@127.0.0.1:9')).toBe('its proxy did not connect (ECONNREFUSED)')
})

test('a redirect is not followed, and a refusal is not repeated', async () => {
  const service = await startService((asked, response) =>
    bare(response, asked.path === '/moved' ? 302 : 403, { location: '/elsewhere' }),
  )
  const at = (path: string) => receiver(`http://127.0.0.1:${service.port}${path}`)
  expect([await post(at('/moved'), {}), await post(at('/no'), {})]).toEqual([
    'it answered 302',
    'it answered 403',
  ])
  expect(service.asked.map(({ path }) => path)).toEqual(['/moved', '/no'])
  await service.close()
})
