/** Only an answer in the form of the contract speaks for the service. */
import { expect, test } from 'vitest'
import { isServiceForm } from '../../src/api/client/envelope.ts'
import { failure, json, listPage, withClient } from './service.ts'
import { virtualClock } from './virtual-clock.ts'

const refusal = { success: false, error: { code: 'FORBIDDEN', message: 'no' } }

test.each<[number, unknown, boolean]>([
  [200, { success: true, data: [] }, true],
  [200, { success: true, data: null }, true],
  [299, { success: true, data: {} }, true],
  [200, refusal, true],
  [403, refusal, true],
  [403, { ...refusal, requestId: 'r1' }, true],
  [403, { success: false, error: { code: '', message: '' } }, true],
  [302, refusal, false],
  [403, { success: true, data: [] }, false],
  [199, { success: true, data: [] }, false],
  [300, { success: true, data: [] }, false],
  [200, { success: true }, false],
  [200, { success: 'true', data: [] }, false],
  [200, { data: [] }, false],
  [200, [{ success: true, data: [] }], false],
  [200, null, false],
  [200, undefined, false],
  [200, 'success', false],
  [403, { success: false }, false],
  [403, { success: false, error: 'blocked' }, false],
  [403, { success: false, error: { message: 'blocked' } }, false],
  [403, { success: false, error: { code: 1020, message: 'blocked' } }, false],
  [403, { success: false, errors: [{ code: '1020', message: 'blocked' }], result: null }, false],
  [403, { error: { code: 'FORBIDDEN', message: 'no' } }, false],
  [403, { message: 'Forbidden' }, false],
  [401, { error: 'unauthorized', error_description: 'token' }, false],
])('%i with %j speaks for the service: %s', (status, body, isForm) => {
  expect(isServiceForm(status, body)).toBe(isForm)
})

const login = '<!doctype html><title>Sign in</title>'

test.each([200, 302, 401, 403, 404, 405, 409, 410, 429, 451])(
  '%i with HTML is a failure that is tried again, and says what may have answered',
  status =>
    withClient(
      (_asked, response) =>
        response.writeHead(status, { location: 'https://portal.example/login?next=1' }).end(login),
      async (client, service) => {
        const error = await failure(client.getPage('/sites'))
        expect([error.name, error.exitCode, service.asked.length]).toEqual(['NotTheService', 1, 6])
        const found = status === 302 ? 'a redirect to https://portal.example' : 'a page of HTML'
        expect(error.message).toBe(
          `the answer is not in the form of the service: ${found} (GET /sites?page=1&limit=200, sent 6 times: ${status}): run again; if it keeps happening, a login page, proxy, firewall or load balancer answers in its place: open baseUrl from this machine`,
        )
      },
      { clock: virtualClock() },
    ),
)

test('a page, a record and /me are read once the gateway is out of the way', () =>
  withClient(
    (asked, response) => {
      if (asked.nth === 1) response.writeHead(403).end(login)
      else if (asked.path === '/sites') json(response, 200, listPage(asked, 1))
      else json(response, 200, { success: true, data: { id: 's1' } })
    },
    async client => {
      expect((await client.getPage('/sites')).meta.total).toBe(1)
      expect((await client.getRecord('/sites/s1')).record).toEqual({ id: 's1' })
    },
    {
      clock: virtualClock(),
      me: (asked, response) =>
        asked.nth === 1
          ? response.writeHead(401).end(login)
          : json(response, 200, { success: true, data: { scopes: [] } }),
    },
  ))

test('a write that a gateway answers is not sent again, and it is unknown whether it was done', () =>
  withClient(
    (_asked, response) => response.writeHead(429, { 'retry-after': '1' }).end(login),
    async (client, service) => {
      const error = await failure(client.write({ method: 'POST', path: '/workers', body: {} }))
      expect([error.name, error.exitCode, service.asked.length]).toEqual(['Unsettled', 1, 1])
    },
    { clock: virtualClock() },
  ))

test('a gateway that asks to wait for an hour fails the request instead of stopping the key', () =>
  withClient(
    (_asked, response) => response.writeHead(429, { 'retry-after': '3600' }).end(login),
    async client => {
      const error = await failure(client.getPage('/sites'))
      expect([error.name, error.exitCode]).toEqual(['NotTheService', 1])
      expect(client.refusal('sync')).toBeUndefined()
    },
    { clock: virtualClock() },
  ))
