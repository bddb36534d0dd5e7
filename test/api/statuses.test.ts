/** Every status that is not success, and the words that come with it. */
import { describe, expect, it } from 'vitest'
import { bare, everyWord, failure, json, KEY, startService, withClient } from './service.ts'
import { virtualClock } from './virtual-clock.ts'

/** Waits of retries cost no time here; requests are real. */
const quick = () => ({ clock: virtualClock() })

describe('a status', () => {
  it.each([
    [400, 'BadRequest', 1, 1],
    [401, 'KeyRefused', 78, 1],
    [402, 'BadRequest', 1, 1],
    [403, 'AccessDenied', 1, 1],
    [404, 'NotFound', 1, 1],
    [405, 'BadRequest', 1, 1],
    [408, 'Retriable', 1, 6],
    [409, 'Conflict', 1, 1],
    [410, 'NotFound', 1, 1],
    [413, 'BadRequest', 1, 1],
    [422, 'BadRequest', 1, 1],
    [425, 'Retriable', 1, 6],
    [429, 'BudgetSpent', 75, 6],
    [500, 'Retriable', 1, 6],
    [502, 'Retriable', 1, 6],
    [503, 'Retriable', 1, 6],
    [504, 'Retriable', 1, 6],
    [599, 'Retriable', 1, 6],
    [301, 'ConfigError', 78, 1],
    [302, 'ConfigError', 78, 1],
    [307, 'ConfigError', 78, 1],
    [308, 'ConfigError', 78, 1],
    [304, 'ConfigError', 78, 1],
  ])('%i is %s (exit %i), sent %i times', (...[status, name, exitCode, times]) =>
    withClient(
      (_asked, response) => json(response, status, { error: { code: 'SOME_CODE', message: 'in words' } }),
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

  it('401 of /me stops every call', () =>
    withClient(
      () => {},
      async (client, service) => {
        expect((await failure(client.getPage('/sites'))).name).toBe('KeyRefused')
        expect(service.asked).toHaveLength(0)
      },
      { me: (_asked, response) => json(response, 401, '') },
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
        json(response, 400, { error: { message: `a\r\nb\u001b[31m\u202e${'é'.repeat(500)}` } }),
      async client => {
        const error = await failure(client.getPage('/sites'))
        expect(error.serverMessage).toMatch(/^a b\[31mé{190,}…$/u)
        expect([...(error.serverMessage as string)]).toHaveLength(200)
      },
    ))

  it.each([
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
        expect([error.name, error.code, error.serverMessage]).toEqual(['NotFound', code, message])
      },
    ),
  )

  it('come from an error body that breaks off too, without hiding the status', () =>
    withClient(
      (_asked, response) => {
        response.writeHead(403, { 'content-length': '500' })
        response.write('{"error"')
        setTimeout(() => response.destroy(), 20)
      },
      async client => expect((await failure(client.getPage('/sites'))).name).toBe('AccessDenied'),
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
        expect(error.name).toBe('ConfigError')
        expect(error.message).toContain(`redirects to http://127.0.0.1:${other.port} (`)
        expect(everyWord(error)).not.toContain(KEY)
        expect(other.asked).toHaveLength(0)
      },
    )
    await other.close()
  })
})
