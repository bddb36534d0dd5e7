/** What a text of the service loses before it is shown: the key in any spelling, values of the request, control characters. */
import { describe, expect, test } from 'vitest'
import { harmless } from '../../../src/api/client/redact.ts'

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
