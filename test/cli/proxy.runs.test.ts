/** The built program behind a proxy: real CONNECT requests, real TLS, and a private authority on both legs. */
import { writeFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { selfSigned } from '../support/certificate.ts'
import { KEY, ME } from '../support/http-service.ts'

const host = 'api.example.test'
const password = 'pass word/7'
const login = `loader:${encodeURIComponent(password)}`
const folder = temporaryFolder()
const authorities = join(folder, 'ca.pem')
const servers: Server[] = []
const connects: { readonly to: string | undefined; readonly authorization: string | undefined }[] = []
/** The status with which the proxy refuses. */
let refusal: number | undefined
let plainPort = 0
let securePort = 0

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const own = selfSigned(host)
  const ofProxy = selfSigned()
  writeFileSync(authorities, own.cert + ofProxy.cert)
  const service = createHttps(own, (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const isMe = request.url?.endsWith('/me')
    const meta = { page: 1, limit: 1, total: 0 }
    response.end(JSON.stringify({ success: true, data: isMe ? ME : [], ...(!isMe && { meta }) }))
  })
  const port = await listen(service)
  const tunnel = (request: IncomingMessage, socket: Duplex): void => {
    connects.push({ to: request.url, authorization: request.headers['proxy-authorization'] })
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\nConnection: close\r\n\r\n`)
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    for (const end of [target, socket]) end.on('error', () => end.destroy())
  }
  plainPort = await listen(createHttp().on('connect', tunnel))
  securePort = await listen(createHttps(ofProxy).on('connect', tunnel))
})

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

interface Finding {
  readonly check: string
  readonly state: string
  readonly found: string
  readonly advice?: string
}

async function doctor(env: Record<string, string>) {
  connects.length = 0
  const child = start('doctor --json', {
    cwd: folder,
    env: {
      MUSTER_BASE_URL: `https://${host}/api/open/v1`,
      MUSTER_API_KEY: KEY,
      MUSTER_WAREHOUSE: 'duckdb:none.duckdb',
      NODE_EXTRA_CA_CERTS: authorities,
      ...env,
    },
  })
  const { out, err } = await child.ended
  expect(out + err).not.toContain(password)
  expect(out + err).not.toContain(encodeURIComponent(password))
  const { findings } = JSON.parse(out) as { findings: readonly Finding[] }
  return (check: string) => findings.find(one => one.check === check)
}

test.each([
  ['HTTPS_PROXY', () => `http://${login}@127.0.0.1:${plainPort}`],
  ['https_proxy', () => `http://${login}@127.0.0.1:${plainPort}`],
  ['HTTP_PROXY', () => `${login}@127.0.0.1:${plainPort}`],
  ['HTTPS_PROXY', () => `https://${login}@localhost:${securePort}`],
])('requests go through the proxy of %s, with its login and a private authority', async (name, proxy) => {
  const found = await doctor({ [name]: proxy() })
  expect(found('key')).toMatchObject({ state: 'ok' })
  const authorization = `Basic ${Buffer.from(`loader:${password}`).toString('base64')}`
  expect(connects[0]).toEqual({ to: `${host}:443`, authorization })
  expect(found('network')?.found).toMatch(
    new RegExp(`^${host} through the proxy https?://(127.0.0.1|localhost):\\d+ \\(HTTPS?_PROXY\\)$`),
  )
})

test('a host that NO_PROXY names is connected to directly', async () => {
  const found = await doctor({ HTTPS_PROXY: `http://127.0.0.1:${plainPort}`, no_proxy: '.test' })
  expect(found('network')?.found).toBe(`${host} directly`)
  expect(found('key')).toMatchObject({ state: 'fail' })
  expect(connects).toEqual([])
})

test.each([
  [407, /requires a user name and a password, or rejects them \(GET \/me/],
  [403, /refuses to connect to api\.example\.test \(GET \/me/],
  [502, /refuses to connect to api\.example\.test \(GET \/me/],
])('a proxy that answers %i is named in one line, without its login', async (status, words) => {
  refusal = status
  const found = await doctor({ HTTPS_PROXY: `http://${login}@127.0.0.1:${plainPort}` })
  refusal = undefined
  expect(found('key')?.found).toMatch(words)
  expect(found('key')?.found).toContain(`the proxy http://127.0.0.1:${plainPort} (HTTPS_PROXY)`)
  expect(found('key')?.found).not.toContain('\n')
})

test('a proxy that is not there, or not trusted, is named as what failed', async () => {
  const gone = await doctor({ HTTPS_PROXY: `http://${login}@127.0.0.1:9` })
  expect(gone('key')).toMatchObject({
    found: expect.stringMatching(
      /^the proxy http:\/\/127\.0\.0\.1:9 \(HTTPS_PROXY\) was not reached \(GET \/me.*ECONNREFUSED\)$/,
    ),
    advice: `check HTTPS_PROXY, or name ${host} in NO_PROXY if it can be reached directly; --wait 10m keeps trying`,
  })
  const untrusted = await doctor({ HTTPS_PROXY: `https://localhost:${securePort}`, NODE_EXTRA_CA_CERTS: '' })
  expect(untrusted('key')?.found).toMatch(/^no trusted TLS connection to the proxy https:\/\/localhost:\d+ /)
})

test('NODE_TLS_REJECT_UNAUTHORIZED=0 switches no check off, and doctor says so', async () => {
  const found = await doctor({
    HTTPS_PROXY: `http://127.0.0.1:${plainPort}`,
    NODE_EXTRA_CA_CERTS: '',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  })
  expect(found('key')?.found).toBe(
    `no trusted TLS connection to ${host} (GET /me: DEPTH_ZERO_SELF_SIGNED_CERT)`,
  )
  expect(found('TLS')).toMatchObject({
    state: 'warn',
    found: 'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are always checked',
  })
})

test('a proxy that is no address is refused in one line', async () => {
  const found = await doctor({ HTTPS_PROXY: 'socks5://127.0.0.1:1080' })
  for (const check of ['network', 'key'])
    expect(found(check)).toMatchObject({
      state: 'fail',
      found: 'HTTPS_PROXY is not the address of an HTTP proxy',
    })
})
