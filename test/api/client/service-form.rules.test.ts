/** Which answers speak for the service, and the words of the others. */
import { describe, expect, test } from 'vitest'
import { isServiceForm, isSuccess, readRefusal } from '../../../src/api/client/envelope.ts'

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

test.each([
  [299, true],
  [300, false],
  [399, false],
  [400, true],
])('a refusal with %i speaks for the service: %s, as it redirects nowhere', (status, isForm) => {
  expect(isServiceForm(status, refusal)).toBe(isForm)
})

test.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('%i is success: %s', (status, expected) => expect(isSuccess(status)).toBe(expected))

describe('the words of a refusal', () => {
  const words = (body: unknown) => readRefusal(403, Buffer.from(JSON.stringify(body)), { secret: 'sk_1' })

  test.each<[string, unknown, object]>([
    ['are those of the service', refusal, { code: 'FORBIDDEN', message: 'no' }],
    ['come from a text', { error: 'plain', code: 'C', message: 'x' }, { code: 'C', message: 'plain' }],
    ['come from the top', { message: 'top', code: 'C' }, { code: 'C', message: 'top' }],
    ['are none where they are no texts', { error: { message: 3, code: null } }, {}],
    ['are none where they are empty', { code: '', message: '' }, {}],
    ['are none of a list', [{ code: 'C' }], {}],
    ['are none of a list in place of an error', { error: [1], code: 'C' }, { code: 'C' }],
    ['are none of null', null, {}],
    ['never show the key', { code: 'sk_1', message: 'no sk_1' }, { code: '[key]', message: 'no [key]' }],
  ])('%s', (_name, body, expected) => {
    const { foreign: _, ...found } = words(body)
    expect(found).toEqual(expected)
  })

  test('are not said to be of something else where they are in the form of the service', () => {
    expect(words(refusal)).toEqual({ code: 'FORBIDDEN', message: 'no' })
  })

  test.each([
    ['', 'nothing'],
    [' \n<html>', 'a page of HTML'],
    ['x <html>', 'not JSON, 8 bytes'],
    [`${' '.repeat(400)}<html>`, 'not JSON, 406 bytes'],
    ['{"a":1}', 'other JSON, 7 bytes'],
    ['null', 'other JSON, 4 bytes'],
  ])('%j is none of the service: %s', (body, foreign) => {
    expect(readRefusal(403, Buffer.from(body), { secret: '' })).toEqual({ foreign })
  })
})
