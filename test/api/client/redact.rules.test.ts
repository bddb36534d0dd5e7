/** What a text of the service loses before it is shown: the key in any spelling, values of the request, control characters. */
import { describe, expect, test } from 'vitest'
import { harmless, requestLine } from '../../../src/api/client/redact.ts'

const secret = 'ab+c/d"e'

describe('the key is cut out', () => {
  test.each([
    ['as it is', `key ab+c/d"e is wrong`, 'key [key] is wrong'],
    ['encoded for an address', 'key ab%2Bc%2Fd%22e is wrong', 'key [key] is wrong'],
    ['encoded with small letters', 'key ab%2bc%2fd%22e is wrong', 'key [key] is wrong'],
    ['escaped for JSON', 'key ab+c/d\\"e is wrong', 'key [key] is wrong'],
    ['in capital letters', 'key AB+C/D"E is wrong', 'key [key] is wrong'],
    ['more than once', `ab+c/d"e ab+c/d"e`, '[key] [key]'],
    ['split by an invisible character', `ab+c\u200b/d"e`, '[key]'],
  ])('%s', (_, text, shown) => expect(harmless(text, { secret })).toBe(shown))

  test('and nothing is where there is no key', () => {
    expect(harmless('text', { secret: '' })).toBe('text')
  })
})

describe('values of the request', () => {
  test('are cut out as whole words, the longest first, in any case', () => {
    const values = ['Jo', 'Jo Doe', '']
    expect(harmless('JO DOE and jo, not Jolene', { secret, values })).toBe('[value] and [value], not Jolene')
  })
})

test('control characters go, white space is one blank, and 200 characters are shown', () => {
  expect(harmless(' a\n\tb\u001b[31m\u202e ', { secret })).toBe('a b[31m')
  expect(harmless('x'.repeat(200), { secret })).toBe('x'.repeat(200))
  expect(harmless('x'.repeat(201), { secret })).toBe(`${'x'.repeat(199)}…`)
})

test('characters with a meaning in patterns are cut out as they are', () => {
  const odd = 'a.b*c+d?e(f)g[h]i{j}k|l^m$n\\o/p'
  expect(harmless(`x ${odd} y`, { secret: odd })).toBe('x [key] y')
  expect(harmless(`x ${odd} y`, { secret: '', values: [odd] })).toBe('x [value] y')
  expect(harmless('axb', { secret: 'a.b' })).toBe('axb')
})

describe('a value of the request', () => {
  test.each([
    ['after a letter', 'éJo', 'éJo'],
    ['before a letter', 'Joé', 'Joé'],
    ['after a digit', '7Jo', '7Jo'],
    ['before a digit', 'Jo7', 'Jo7'],
    ['between signs', '"Jo"', '"[value]"'],
    ['alone', 'Jo', '[value]'],
  ])('%s: %s is shown as %s', (_name, text, shown) => {
    expect(harmless(text, { secret: '', values: ['Jo'] })).toBe(shown)
  })

  test('that is empty changes nothing', () => {
    expect(harmless('a b', { secret: '', values: [''] })).toBe('a b')
    expect(harmless('a b', { secret: '', values: [] })).toBe('a b')
    expect(harmless('a b', { secret: '', values: ['', 'b'] })).toBe('a [value]')
  })

  test('is cut out before the text is cut, so that no half of it stays', () => {
    const text = `${'x'.repeat(195)} Joanna`
    expect(harmless(text, { secret: '', values: ['Joanna'] })).toBe(`${'x'.repeat(195)} [va…`)
  })

  test('counts characters, not halves of them', () => {
    expect(harmless('😀'.repeat(200), { secret: '' })).toBe('😀'.repeat(200))
  })
})

describe('a request in messages', () => {
  test.each<[string, Parameters<typeof requestLine>, string]>([
    ['has no question mark without parameters', ['/me'], 'GET /me'],
    ['leaves undefined parameters out', ['/a', { company: undefined }], 'GET /a'],
    ['hides what a search is about', ['/a', { query: 'Jane', company: 'c1' }], 'GET /a?query=*&company=*'],
    ['names its method', ['/workers', {}, 'POST'], 'POST /workers'],
    [
      'shows the position in a list',
      [
        '/a',
        {
          ...{ page: 1, limit: 2, sortBy: 'x', sortOrder: 'asc', from: 'f', to: 't' },
          ...{ dateField: 'd', status: 's', fields: 'id', other: true },
        },
      ],
      'GET /a?page=1&limit=2&sortBy=x&sortOrder=asc&from=f&to=t&dateField=d&status=s&fields=id&other=*',
    ],
  ])('%s', (_name, parts, line) => expect(requestLine(...parts)).toBe(line))
})
