/** The envelope of a 2xx answer: what is read from its edges, what from the whole, and what is refused. */
import { describe, expect, test } from 'vitest'
import { type Envelope, fewRows, readEnvelope, rowsOfPage } from '../../../src/api/client/envelope.ts'
import { BadAnswer, NotTheService } from '../../../src/api/client/errors.ts'

const asked = { page: 1, limit: 200 }
const good = { success: true, data: [{ id: 'a' }], meta: { page: 1, limit: 200, total: 1 } }
const withMeta = (changes: object, data: unknown = good.data) => ({
  ...{ success: true, data },
  meta: { ...good.meta, ...changes },
})

type Body = string | object
const bytesOf = (body: Body) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
const read = (body: Body, parts: object = asked): Envelope =>
  readEnvelope(bytesOf(body), parts, { request: 'GET /sites', secret: 'sk_1' })

/** What an answer is refused with. */
function failureOf(body: Body, parts: object = asked): Error {
  try {
    read(body, parts).records()
  } catch (error) {
    return error as Error
  }
  throw new Error('expected a failure')
}

describe('a list', () => {
  test.each<[string, Body]>([
    ['as it should be', good],
    ['with its meta first', { success: true, meta: good.meta, data: good.data }],
    ['with another member before', { id: 1, ...good }],
    [
      'with white space',
      ' { "success" : true , "data" : [ {"id":"a"} ] , "meta" : { "page" : 1 , "limit" : 200 , "total" : 1 } } ',
    ],
    ['with more in its meta', withMeta({ pages: 1, next: null, x: { y: 1 } })],
    ['with digits in names of its meta', withMeta({ x1: 2 })],
    ['with a brace at the end of a text', { ...withMeta({}), z: '"meta":{"page":7}}' }],
  ])('%s is read', (_name, body) => {
    const { meta, empty, isHollow, records } = read(body)
    expect({ meta, empty, isHollow }).toEqual({ meta: good.meta, empty: false, isHollow: false })
    expect(records()).toEqual(good.data)
  })

  test('is not parsed until its rows are asked for', () => {
    const spoiled = '{"success":true,"data":[{"a":}],"meta":{"page":1,"limit":200,"total":1}}'
    expect(read(spoiled).meta?.total).toBe(1)
    expect(failureOf(spoiled).message).toContain('bad answer: not JSON, 72 bytes')
  })

  test.each<[string, Body]>([
    ['a number with a leading zero', '{"success":true,"data":[{}],"meta":{"page":1,"limit":200,"total":01}}'],
    ['a comma at the end', '{"success":true,"data":[{}],"meta":{"page":1,"limit":200,"total":1,}}'],
    ['text behind it', '{"success":true,"data":[{}],"meta":{"page":1,"limit":200,"total":1}}x'],
    ['text before it', 'x{"success":true,"data":[{}],"meta":{"page":1,"limit":200,"total":1}}'],
  ])('with %s is no JSON', (_name, body) => {
    expect(() => read(body)).toThrow(/not JSON/)
  })

  test.each<[string, Body, string]>([
    [
      'whose total is too large to count',
      withMeta({ total: 2 ** 53 }),
      'page, limit and total are not all whole numbers',
    ],
    ['whose total is a text', withMeta({ total: '1' }), 'page, limit and total are not all whole numbers'],
    [
      'whose total is a fraction',
      withMeta({ total: 1.5 }),
      'page, limit and total are not all whole numbers',
    ],
    ['whose total is below zero', withMeta({ total: -1 }), 'page, limit and total are not all whole numbers'],
    ['without a page', withMeta({ page: undefined }), 'page, limit and total are not all whole numbers'],
    ['without a limit', withMeta({ limit: undefined }), 'page, limit and total are not all whole numbers'],
    ['without a total', withMeta({ total: undefined }), 'page, limit and total are not all whole numbers'],
    ['whose page is a text', withMeta({ page: '1' }), 'page, limit and total are not all whole numbers'],
    ['whose limit is null', withMeta({ limit: null }), 'page, limit and total are not all whole numbers'],
    ['without meta', { success: true, data: [] }, 'meta is missing'],
    ['whose meta is null', { ...good, meta: null }, 'meta is missing'],
    ['whose meta is a text', { ...good, meta: 'x' }, 'meta is missing'],
    ['of another page', withMeta({ page: 2 }), 'page 2 instead of 1'],
    ['of more rows a page', withMeta({ limit: 201 }), 'limit 201 instead of 200'],
    ['of no rows a page', withMeta({ limit: 0 }), 'meta says page 1, limit 0'],
    ['whose rows are an object', { ...good, data: {} }, 'data is not an array'],
    ['whose rows are null though its total has some', { ...good, data: null }, 'data is not an array'],
    [
      'whose success is false',
      { ...good, success: false, error: { code: 'E', message: 'm' } },
      'success is not true',
    ],
  ])('%s is refused: %s', (_name, body, what) => {
    const error = failureOf(body)
    expect(error).toBeInstanceOf(BadAnswer)
    expect(error.message).toContain(`bad answer: ${what} (GET /sites: 200`)
  })

  test('that refuses with success says why, without the key', () => {
    const body = { success: false, error: { code: 'E', message: 'no sk_1' } }
    expect(failureOf(body).message).toContain('(GET /sites: 200 E "no [key]")')
  })

  test.each<[string, Body, string]>([
    ['without success', { data: [], meta: good.meta }, 'other JSON'],
    ['whose success is a text', { ...good, success: 'true' }, 'other JSON'],
    ['without data', { success: true, meta: good.meta }, 'other JSON'],
    ['in an array', [good], 'other JSON'],
    ['that is null', 'null', 'other JSON, 4 bytes'],
    ['of nothing', '', 'nothing'],
    ['of HTML', '<html>', 'a page of HTML'],
    ['cut in its first word', '{"suc', 'not JSON, 5 bytes'],
    ['whose data is behind other text', 'x {"success":true,"data":[', 'not JSON, 26 bytes'],
  ])('%s is none of the service: %s', (_name, body, found) => {
    const error = failureOf(body)
    expect(error).toBeInstanceOf(NotTheService)
    expect(error.message).toContain(`the answer does not come from the service: ${found}`)
  })

  test.each([
    ['{"success":true,"data":[{"id":"a"}', 'not JSON, 34 bytes'],
    [' { "success" : true , "data" : [', 'not JSON, 32 bytes'],
    ['\n{\n"success"\n:\ntrue\n,\n"data"\n:\n[', 'not JSON, 32 bytes'],
  ])('of the service that was cut is a bad answer: %j', (body, what) => {
    const error = failureOf(body)
    expect(error).toBeInstanceOf(BadAnswer)
    expect(error.message).toContain(what)
  })

  test('with bytes that are not UTF-8 is spoiled, or none of the service', () => {
    const spoiled = Buffer.concat([Buffer.from('{"success":true,"data":['), Buffer.from([0xff])])
    expect(() => readEnvelope(spoiled, asked)).toThrow('bad answer: not UTF-8, 25 bytes (answer: 200)')
    expect(() => readEnvelope(Buffer.from([0x7b, 0xff]), asked)).toThrow('does not come from the service')
    const inside = bytesOf(good)
    inside[inside.indexOf('"a"') + 1] = 0xff
    expect(() => readEnvelope(inside, asked)).toThrow('not UTF-8')
  })
})

describe('the meta of a list', () => {
  test.each([
    [{ page: 3 }, { page: 3 }],
    [{ limit: 200 }, { page: 3, limit: 50 }],
    [
      { page: 3, limit: 50 },
      { page: 3, limit: 50 },
    ],
    [
      { page: 3, limit: 200 },
      { page: 3, limit: 1 },
    ],
  ])('asked with %j may say %j', (parts, meta) => {
    expect(read(withMeta(meta), parts).meta).toMatchObject(meta)
  })

  test('below page 1 is refused though no page was asked for', () => {
    expect(failureOf(withMeta({ page: 0 }), { limit: 200 }).message).toContain('meta says page 0, limit 200')
    expect(read(withMeta({ page: 1, limit: 1, total: 0 }), { limit: 200 }).meta?.total).toBe(0)
  })

  test('has nothing but numbers, and the texts of an aggregate', () => {
    const texts = { metric: 'm', groupBy: 'g', dateField: 'd', outlierRule: 'o' }
    expect(read(withMeta({ ...texts, next: 'n' })).meta).toEqual({ ...good.meta, ...texts })
    expect(read(withMeta({ groupBy: 7, dateField: null })).meta).toEqual(good.meta)
  })

  test('of an aggregate may leave page and limit to the request; of a list it may not', () => {
    const unsaid = { page: undefined, limit: undefined }
    expect(read(withMeta({ ...unsaid, metric: 'm' })).meta).toMatchObject(asked)
    expect(failureOf(withMeta({ ...unsaid, metric: 7 })).message).toContain(
      'page, limit and total are not all whole numbers',
    )
    expect(failureOf(withMeta(unsaid)).message).toContain('page, limit and total are not all whole numbers')
  })
})

describe('rows', () => {
  test('are at most as many as were asked for', () => {
    const body = withMeta({ limit: 2, total: 9 }, [1, 2, 3])
    expect(read(body, { page: 1, limit: 3 }).records()).toHaveLength(3)
    expect(() => read(body, { page: 1, limit: 2 }).records()).toThrow('3 records where 2 were asked for')
    expect(read(body, { page: 1 }).records()).toHaveLength(3)
  })

  test('that are missing from the rest of the answer are said to be missing', () => {
    expect(failureOf({ success: true, data: 'x', meta: good.meta }).message).toContain('data is not an array')
    const undefinedRows = '{"success":false,"error":{"code":"E","message":"m"}}'
    expect(failureOf(undefinedRows).message).toContain('success is not true')
  })

  test.each<[string, object, object, boolean]>([
    ['of an empty list', { total: 0 }, asked, true],
    ['past the end', { page: 3, total: 400 }, { page: 3, limit: 200 }, true],
    ['of a page with one row', { page: 3, total: 401 }, { page: 3, limit: 200 }, false],
    ['where the total is no number', { total: 'x' }, asked, false],
    ['where no page was asked for', { total: 0 }, { limit: 200 }, false],
    ['where no limit was asked for', { total: 0 }, { page: 1 }, false],
  ])('that are null %s are none: %s', (...[, meta, parts, isNone]) => {
    const take = () => read(withMeta(meta, null), parts)
    if (isNone) expect([take().empty, take().records()]).toEqual([true, []])
    else expect(take).toThrow('data is not an array')
  })

  test('that are null without a meta are an error of the rows', () => {
    expect(failureOf({ success: true, data: null }).message).toContain('data is not an array')
  })
})

describe('a page without rows is hollow', () => {
  test.each<[string, object, object, boolean]>([
    ['when its total has a row on it', { total: 201, page: 2 }, { page: 2, limit: 200 }, true],
    ['not when the rows end before it', { total: 200, page: 2 }, { page: 2, limit: 200 }, false],
    ['when one row is hidden', { total: 1 }, asked, true],
    ['not when the list is empty', { total: 0 }, asked, false],
    ['not when few rows were asked for', { total: 9, limit: 20 }, { page: 1, limit: fewRows }, false],
    ['when one more was asked for', { total: 9, limit: 20 }, { page: 1, limit: fewRows + 1 }, true],
    ['not when it has few rows and no limit was asked for', { total: 9, limit: 20 }, { page: 1 }, false],
    ['when it has more rows and no limit was asked for', { total: 9, limit: 21 }, { page: 1 }, true],
  ])('%s', (...[, meta, parts, isHollow]) => {
    const page = read(withMeta(meta, []), parts)
    expect([page.empty, page.isHollow]).toEqual([true, isHollow])
  })

  test('never when it has rows; few are 20', () => {
    expect(read(withMeta({ total: 9 })).isHollow).toBe(false)
    expect(fewRows).toBe(20)
  })
})

describe('a record', () => {
  test('is read, and is no list', () => {
    const { meta, empty, isHollow, records } = read({ success: true, data: { id: 1 } }, {})
    expect([meta, empty, isHollow, records()]).toEqual([undefined, false, false, { id: 1 }])
  })

  test.each([[[]], [null], [3], ['x']])('that is %j is refused', data => {
    expect(failureOf({ success: true, data }, {}).message).toContain('data is not an object')
  })
})

describe('the rows of a page as they came', () => {
  test.each<[string, string, string | undefined]>([
    ['are between the brackets', '{"success":true,"data":[{"a":[1]},2],"meta":{"page":1}}', '{"a":[1]},2'],
    ['are none of an empty page', '{"success":true,"data":[],"meta":{}}', ''],
    [
      'keep a text that looks like the end',
      '{"success":true,"data":["],\\"meta\\":"],"meta":{}}',
      '"],\\"meta\\":"',
    ],
    ['are unknown where the meta comes first', '{"success":true,"meta":{},"data":[1]}', undefined],
    ['are unknown without a meta', '{"success":true,"data":[1]}', undefined],
    ['are unknown without a bracket before the meta', '{"success":true,"data":[ "meta":1', undefined],
    ['are unknown of something else', '[1],"meta":{}', undefined],
  ])('%s', (_name, body, rows) => {
    expect(rowsOfPage(Buffer.from(body))?.toString()).toBe(rows)
  })
})
