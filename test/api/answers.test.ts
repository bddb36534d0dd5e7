/** Answers with a good status that are not what the contract says. */
import { describe, expect, it } from 'vitest'
import { everyWord, failure, json, KEY, listPage, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

/** Waits of retries cost no time here; requests are real. */
const quick = () => ({ clock: virtualClock() })

describe('an answer that is not the contract', () => {
  const good = { success: true, data: [{ id: 'a' }], meta: { page: 1, limit: 200, total: 1 } }
  const meta = (changes: object) => ({ ...good, meta: { ...good.meta, ...changes } })
  it.each<[string, unknown, string, string?]>([
    ['html', ' <html>maintenance</html>', 'a page of HTML', 'NotTheService'],
    ['nothing', '', 'nothing', 'NotTheService'],
    ['cut JSON', '{"success":true,"data":[{"id":"a"}', 'not JSON, 34 bytes'],
    ['an array', [good], 'other JSON, ', 'NotTheService'],
    ['null', null, 'other JSON, 4 bytes', 'NotTheService'],
    [
      'success: false',
      { success: false, error: { code: 'E1', message: `no ${KEY}` } },
      'success is not true',
    ],
    ['success: "true"', { ...good, success: 'true' }, 'other JSON', 'NotTheService'],
    ['no data', { success: true, meta: good.meta }, 'other JSON', 'NotTheService'],
    ['data: null', { ...good, data: null }, 'data is not an array'],
    ['data: object', { ...good, data: {} }, 'data is not an array'],
    ['no meta', { success: true, data: [] }, 'meta is missing'],
    ['meta: null', { ...good, meta: null }, 'meta is missing'],
    ['total: text', meta({ total: '1' }), 'whole numbers'],
    ['total: 1.5', meta({ total: 1.5 }), 'whole numbers'],
    ['total: -1', meta({ total: -1 }), 'whole numbers'],
    ['total: 1e300', meta({ total: 1e300 }), 'whole numbers'],
    ['no total', meta({ total: undefined }), 'whole numbers'],
    ['another page', meta({ page: 2 }), 'page 2 instead of 1'],
    ['a greater limit', meta({ limit: 201 }), 'limit 201 instead of 200'],
    ['no rows but total 5', { ...meta({ total: 5 }), data: [] }, 'is empty although the total is 5'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not JSON, 3 bytes', 'NotTheService'],
  ])('%s', (...[, body, what, name = 'BadAnswer']) =>
    withClient(
      (_asked, response) =>
        response.end(Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)),
      async (client, service) => {
        const error = await failure(client.getPage('/sites'))
        expect([error.name, service.asked.length]).toEqual([name, 6])
        expect(error.message).toContain(what)
        expect(everyWord(error)).not.toContain(KEY)
        expect(everyWord(error)).not.toContain('maintenance')
      },
      quick(),
    ),
  )

  it.each([{ limit: 50 }, { total: 0 }])('may have fewer rows a page, and rows beyond its total: %j', parts =>
    withClient(
      (_asked, response) => json(response, 200, meta(parts)),
      async client => expect((await client.getPage('/sites')).meta).toMatchObject(parts),
      quick(),
    ),
  )

  it('is asked for again, and may then be right', () =>
    withClient(
      (asked, response) => (asked.nth < 3 ? response.end('<html>') : json(response, 200, listPage(asked, 3))),
      async client => expect((await client.getPage('/sites')).records()).toHaveLength(3),
      quick(),
    ))

  it.each([[[]], [null], [3]])('a record that is %j', data =>
    withClient(
      (_asked, response) => json(response, 200, { success: true, data }),
      async client =>
        expect((await failure(client.getRecord('/sites/s'))).message).toContain('not an object'),
      quick(),
    ),
  )

  it('shows more rows than asked for when they are parsed', () =>
    withClient(
      (_asked, response) =>
        json(response, 200, { success: true, data: [1, 2, 3], meta: { page: 1, limit: 2, total: 3 } }),
      async client => {
        const page = await client.getPage('/sites', { limit: 2 })
        expect(() => page.records()).toThrow('3 records where 2')
      },
      quick(),
    ))

  it('takes a page beyond the end, with no rows', () =>
    withClient(
      (asked, response) => json(response, 200, listPage(asked, 200)),
      async client => expect((await client.getPage('/sites', { page: 2 })).empty).toBe(true),
    ))
})
