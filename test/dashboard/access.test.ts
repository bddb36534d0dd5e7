/** Who gets an answer of the dashboard: by its token, by the host that was addressed, however the address is written. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { tokenFor } from '../../src/dashboard/token.ts'
import { isAddressedHere } from '../../src/lib/web/allowed-host.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openDuckdb } from '../../src/warehouse/on-demand.ts'
import { sendRaw } from '../serve/raw-request.ts'
import { methodsTried, type ServerRoute, spellingsOf, withRoutes } from '../serve/spellings.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { type Served, serveDashboard } from './served.ts'

const token = 'token-of-this-test'
/** A name of a company in the warehouse: what only the token opens. */
const stored = 'Northwind Builders'
const agency = '647d2580351490e224ae34fe'
let engine: Engine
let closed: Served
let routes: readonly ServerRoute[]

beforeAll(async () => {
  engine = await openDuckdb(join(temporaryFolder(), 'w.duckdb'))
  await engine.run('create schema mart')
  await engine.run(
    `create table mart.dim_company as select '${agency}' as company_id, '${stored}' as company_name, false as is_deleted`,
  )
  const served = await withRoutes(() => serveDashboard(engine, { token }))
  closed = served.made
  routes = served.routes
})
afterAll(async () => {
  await closed?.close()
  await engine?.close()
})

const panel = pages.flatMap(page => page.panels).find(one => one.drill)?.id ?? ''
const filled = ({ url }: ServerRoute): string =>
  url.replace(':page', () => pages[0]?.id ?? '').replace(':panel', () => panel)
const hostOf = ({ url }: { url: string }): string => new URL(url).host

const ask = async (address: string, headers: readonly string[] = [], method = 'GET') => {
  const lines = [`Host: ${hostOf(closed)}`, 'Connection: close', ...headers]
  return sendRaw(closed.url, [`${method} ${address} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`], {
    lingerMs: 20,
  })
}

/** What the browser needs before it has the token. */
const open = ['/', '/main.js', '/main.css']

test('only the page and its two files are open, and every other route needs the token', async () => {
  const statuses: unknown[] = []
  for (const route of routes) {
    const without = (await ask(filled(route), [], route.method)).statuses[0]
    const withToken = (await ask(filled(route), [`Authorization: Bearer ${token}`], route.method)).statuses[0]
    statuses.push([route.url, without, withToken === 401])
  }
  expect(routes.length).toBeGreaterThan(open.length)
  expect(statuses).toEqual(routes.map(({ url }) => [url, open.includes(url) ? 200 : 401, false]))
})

test('with the token the answer has what the warehouse stores', async () => {
  const { statuses, text } = await ask('/api/choices', [`Authorization: Bearer ${token}`])
  expect([statuses, text.includes(stored)]).toEqual([[200], true])
})

test('no spelling and no method of an address gets an answer without the token', async () => {
  const passed: unknown[] = []
  for (const route of routes.filter(({ url }) => !open.includes(url)))
    for (const address of spellingsOf(filled(route), hostOf(closed)))
      for (const method of address === filled(route) ? methodsTried : ['GET', 'HEAD'])
        for (const headers of [[], ['Authorization: Bearer wrong']]) {
          const { statuses, text } = await ask(address, headers, method)
          const isRefused = statuses.length > 0 && statuses.every(status => status >= 400 && status < 500)
          if (!isRefused || text.includes(stored)) passed.push([method, address, statuses])
        }
  expect(passed).toEqual([])
})

test('what no route takes, or nothing can decode, is refused with the same headers and without a word of the address', async () => {
  for (const address of ['/nothing', '/%zz-secret', `/api/pages/${'x'.repeat(500)}`]) {
    const { statuses, text } = await ask(address)
    expect([address, (statuses[0] ?? 0) >= 400]).toEqual([address, true])
    expect(text).not.toContain('secret')
    expect(text.toLowerCase()).toContain("content-security-policy: default-src 'none'")
  }
})

test('an address of another host is refused on every route, in the header and in the address itself', async () => {
  const bearer = `Authorization: Bearer ${token}`
  for (const route of routes) {
    const path = filled(route)
    for (const [address, more] of [
      [`http://evil.example${path}`, []],
      [`HTTPS://evil.example:80${path}`, []],
      [`http://127.0.0.1@evil.example${path}`, []],
      [path, ['Host: evil.example']],
    ] as const)
      expect([address, (await ask(address, [bearer, ...more], route.method)).statuses[0]]).toEqual([
        address,
        421,
      ])
  }
})

describe('a request is addressed here', () => {
  const served = { host: '10.0.0.5', allowedHosts: ['Figures.example.com'] }
  const received = (url: string, ...hosts: string[]) => ({
    url,
    rawHeaders: hosts.flatMap(host => ['Host', host]),
  })
  test.each([
    ['/', ['10.0.0.5:80']],
    ['/', ['localhost']],
    ['/', ['[::1]:8090']],
    ['/', ['FIGURES.example.com:443']],
    ['http://figures.example.com/x', ['127.0.0.1']],
    ['//evil.example/x', ['127.0.0.1']],
    ['/x?at=http://evil.example/', ['127.0.0.1']],
  ])('by %s and %j', (url, hosts) => expect(isAddressedHere(received(url, ...hosts), served)).toBe(true))
  test.each([
    ['/', []],
    ['/', ['']],
    ['/', ['evil.example']],
    ['/', ['127.0.0.1.evil.example']],
    ['/', ['127.0.0.1', 'evil.example']],
    ['/', ['127.0.0.1:8090:1']],
    ['/', ['user@127.0.0.1']],
    ['http://evil.example/x', ['127.0.0.1']],
    ['http://evil.example', ['127.0.0.1']],
    ['http://evil.example?x', ['127.0.0.1']],
    ['http://127.0.0.1/x', ['evil.example']],
    ['http://127.0.0.1@evil.example/x', ['127.0.0.1']],
    ['http:///x', ['127.0.0.1']],
  ])('not by %s and %j', (url, hosts) => expect(isAddressedHere(received(url, ...hosts), served)).toBe(false))
  test('a header whose value is Host is no Host header', () => {
    expect(
      isAddressedHere({ url: '/', rawHeaders: ['X-Name', 'Host', 'X-Other', '127.0.0.1'] }, served),
    ).toBe(false)
  })
})

test.each([
  ['127.0.0.1', [], false, false],
  ['localhost', [], false, false],
  ['::1', [], false, false],
  ['127.0.0.1', [], true, true],
  ['127.0.0.1', ['figures.example.com'], false, true],
  ['0.0.0.0', [], false, true],
  ['::', [], false, true],
  ['10.0.0.5', [], false, true],
])(
  'a dashboard on %s with names %j, asked for a token %s: has one %s',
  (...[host, allowedHosts, isTokenAsked, expected]) => {
    expect(tokenFor({ host, allowedHosts, isTokenAsked }) !== undefined).toBe(expected)
  },
)
