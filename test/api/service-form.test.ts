/** Only an answer in the form of the contract speaks for the service. */
import { expect, test } from 'vitest'
import { failure, json, listPage, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

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
          `the answer does not come from the service: ${found} (GET /sites?page=1&limit=200, sent 6 times: ${status}): run again; if it keeps happening, a login page, proxy, firewall or load balancer answers instead: open baseUrl from this machine`,
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
      expect([error.name, error.exitCode, service.asked.length]).toEqual(['WriteUnsettled', 1, 1])
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
