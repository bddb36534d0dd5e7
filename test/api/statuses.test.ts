/** Every status that is not success, and the words that come with it. */
import { describe, expect, it } from 'vitest'
import {
  answerMe,
  bare,
  everyWord,
  failure,
  json,
  KEY,
  listPage,
  startService,
  withClient,
} from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

/** Waits of retries cost no time here; requests are real. */
const quick = () => ({ clock: virtualClock() })

describe('a status', () => {
  it.each([
    [400, 'BadRequest', 1, 1],
    [401, 'RetriableError', 1, 2],
    [402, 'BadRequest', 1, 1],
    [403, 'AccessDenied', 1, 1],
    [404, 'NotFound', 1, 1],
    [405, 'BadRequest', 1, 1],
    [408, 'RetriableError', 1, 6],
    [409, 'Conflict', 1, 1],
    [410, 'NotFound', 1, 1],
    [413, 'BadRequest', 1, 1],
    [422, 'BadRequest', 1, 1],
    [425, 'RetriableError', 1, 6],
    [429, 'BudgetSpent', 75, 6],
    [500, 'RetriableError', 1, 6],
    [502, 'RetriableError', 1, 6],
    [503, 'RetriableError', 1, 6],
    [504, 'RetriableError', 1, 6],
    [599, 'RetriableError', 1, 6],
    [301, 'NotTheService', 1, 6],
    [302, 'NotTheService', 1, 6],
    [307, 'NotTheService', 1, 6],
    [308, 'NotTheService', 1, 6],
    [304, 'NotTheService', 1, 6],
  ])('%i is %s (exit %i), sent %i times', (...[status, name, exitCode, times]) =>
    withClient(
      (_asked, response) =>
        json(response, status, { success: false, error: { code: 'SOME_CODE', message: 'in words' } }),
      async (client, service) => {
        const error = await failure(client.getPage('/sites', { page: 2, query: 'Jane Roe', company: 'c9' }))
        expect([error.name, error.exitCode, service.asked.length]).toEqual([name, exitCode, times])
        expect(error.message).toContain('GET /sites?page=2&query=*&company=*&limit=200')
        expect(error.message).toContain(String(status))
        if (status !== 304) expect(error.message).toContain('SOME_CODE')
        expect(error.message).not.toContain('\n')
        expect(everyWord(error)).not.toContain('Jane')
      },
      quick(),
    ),
  )
})

const unauthorized = { success: false, error: { code: 'UNAUTHORIZED', message: 'no such key' } }

describe('401', () => {
  it('of /me, twice, stops every call', () =>
    withClient(
      () => {},
      async (client, service) => {
        const error = await failure(client.getPage('/sites'))
        expect([error.name, error.exitCode, service.me.length]).toEqual(['KeyRefused', 78, 2])
        expect(service.asked).toHaveLength(0)
      },
      { me: (_asked, response) => json(response, 401, unauthorized), ...quick() },
    ))

  it('of /me, once, is a slip', () =>
    withClient(
      (asked, response) => json(response, 200, listPage(asked, 1)),
      async client => expect((await client.getPage('/sites')).meta.total).toBe(1),
      {
        me: (asked, response, request) =>
          asked.nth === 1 ? json(response, 401, unauthorized) : answerMe()(asked, response, request),
        ...quick(),
      },
    ))

  it.each(['GET', 'POST'] as const)(
    'of one %s while /me accepts the key is a slip, and the request is sent again',
    method =>
      withClient(
        (asked, response) =>
          asked.nth === 1
            ? json(response, 401, unauthorized)
            : json(response, 200, { success: true, data: { id: 's1' } }),
        async (client, service) => {
          const sent =
            method === 'GET'
              ? client.getRecord('/sites/s1')
              : client.write({ method, path: '/workers', body: {} })
          expect((await sent).record).toEqual({ id: 's1' })
          expect([service.asked.length, service.me.length]).toEqual([2, 2])
        },
        quick(),
      ),
  )

  it('of every request but /me is a failure of each request that is no fault of the key', () =>
    withClient(
      (_asked, response) => json(response, 401, unauthorized),
      async (client, service) => {
        const error = await failure(client.getPage('/sites'))
        expect(error.message).toBe(
          'the service refuses the API key here, and accepts it for /me (GET /sites?page=1&limit=200, sent 2 times: 401 UNAUTHORIZED "no such key"): run again later; if it keeps happening, tell the operators of the service',
        )
        expect(error.exitCode).toBe(1)
        expect(service.me).toHaveLength(2)
      },
      quick(),
    ))

  it('of many requests at once asks /me once, which decides for all', () =>
    withClient(
      (_asked, response) => json(response, 401, unauthorized),
      async (client, service) => {
        await client.getMe()
        const paths = ['/sites', '/projects', '/users', '/companies']
        const errors = await Promise.all(paths.map(path => failure(client.getPage(path))))
        expect(errors.map(({ exitCode }) => exitCode)).toEqual([78, 78, 78, 78])
        expect(service.me).toHaveLength(2)
      },
      {
        me: (asked, response, request) =>
          asked.nth === 1 ? answerMe()(asked, response, request) : json(response, 401, unauthorized),
      },
    ))
})

describe('the words of the service', () => {
  it('never carry the key, however it is echoed', () =>
    withClient(
      (_asked, response) => {
        const split = `${KEY.slice(0, 6)}\u0000${KEY.slice(6)}`
        const message = `bad key ${KEY}, ${split}, ${KEY.toUpperCase()}, ${'x'.repeat(140)}${KEY}`
        json(response, 403, { success: false, error: { code: KEY, message } })
      },
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect(error.message).toContain('bad key [key], [key], [key]')
        expect(everyWord(error).toLowerCase()).not.toContain(KEY.slice(0, 12).toLowerCase())
      },
    ))

  it('are one short line without control characters', () =>
    withClient(
      (_asked, response) =>
        json(response, 400, {
          success: false,
          error: { code: 'C', message: `a\r\nb\u001b[31m\u202e${'é'.repeat(500)}` },
        }),
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect(error.serverMessage).toMatch(/^a b\[31mé{190,}…$/u)
        expect([...(error.serverMessage as string)]).toHaveLength(200)
      },
    ))

  it.each([
    [{ success: false, error: { code: 'C', message: 'm' } }, 'C', 'm'],
    [{ error: 'plain', code: 'C' }, 'C', 'plain'],
    [{ message: 'top', code: 'C' }, 'C', 'top'],
    [{ error: { message: 3, code: null } }, undefined, undefined],
    [[1], undefined, undefined],
    ['<html>nope</html>', undefined, undefined],
    [{ error: { message: 'x'.repeat(70_000) } }, undefined, undefined],
  ])('are taken from %.40j', (body, code, message) =>
    withClient(
      (_asked, response) => json(response, 404, body),
      async client => {
        const error = await failure(client.getRecord('/trades/t1'))
        expect([error.code, error.serverMessage]).toEqual([code, message])
      },
      quick(),
    ),
  )

  it('of a body that breaks off are none of the service', () =>
    withClient(
      (_asked, response) => {
        response.writeHead(403, { 'content-length': '500' })
        response.write('{"error"')
        setTimeout(() => response.destroy(), 20)
      },
      async client => expect((await failure(client.getPage('/sites'))).name).toBe('NotTheService'),
      quick(),
    ))
})

describe('a redirect', () => {
  it('is not followed, and its target is named without path or query', async () => {
    const other = await startService(() => {})
    await withClient(
      (_asked, response) =>
        bare(response, 302, { location: `http://127.0.0.1:${other.port}/login?token=${KEY}` }),
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect(error.name).toBe('NotTheService')
        expect(error.message).toContain(`a redirect to http://127.0.0.1:${other.port} (`)
        expect(everyWord(error)).not.toContain(KEY)
        expect(other.asked).toHaveLength(0)
      },
      quick(),
    )
    await other.close()
  })
})
