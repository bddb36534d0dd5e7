/** Which bodies are unambiguous JSON. */
import { describe, expect, test } from 'vitest'
import { parseStrictly } from '../../src/events/event.ts'

const parse = (text: string) => parseStrictly(Buffer.from(text))
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

describe('a body is read', () => {
  test.each([
    ['an object', '{"a":1,"b":[1,2],"c":{"a":null}}'],
    ['a key again in another object', '{"a":{"b":1},"c":{"b":1},"b":2}'],
    ['a key again in objects of a list', '[{"a":1},{"a":2}]'],
    ['a key again above and below', '{"a":{"a":{"a":1}}}'],
    ['a text that is a key, too', '{"a":"a","b":"a"}'],
    ['a text twice in a list', '{"a":["b","b","a"]}'],
    ['brackets in texts', '{"a":"}{","b":"][","c":1}'],
    ['brackets in keys', '{"{":1,"}":2,"[":3,"]":4}'],
    ['quotes in texts', String.raw`{"a":"\"b\":1,\"b\":2","c":"\\"}`],
    ['a key with a quote', String.raw`{"a\"":1,"a":2}`],
    ['a colon after a text in a text', String.raw`{"a":"\":","b":1}`],
    ['keys that differ in case', '{"a":1,"A":2}'],
    ['a text __proto__', '{"a":"__proto__"}'],
    ['a number', '1'],
    ['a text', '"a"'],
    ['space at both ends', ' {"a" : 1 , "b" : 2} \n'],
    ['brackets that are closed and opened again', `{"a":[${Array(40).fill('{"b":[]}').join(',')}]}`],
  ])('%s', (...[, text]) => expect(parse(text)).toEqual({ value: JSON.parse(text) }))
})

describe('a body is refused', () => {
  test.each([
    ['a key twice', '{"a":1,"a":2}', 'with a duplicate key'],
    ['a key twice with space before its colon', '{"a"\n : 1, "a"\t:2}', 'with a duplicate key'],
    ['a key in two spellings', String.raw`{"a":1,"\u0061":2}`, 'with a duplicate key'],
    ['an empty key twice', '{"":1,"":2}', 'with a duplicate key'],
    ['a key with a backslash twice', String.raw`{"a\\":1,"a\\":2}`, 'with a duplicate key'],
    ['a key with quotes twice', String.raw`{"a\"b\"c":1,"a\"b\"c":2}`, 'with a duplicate key'],
    ['a key twice around an object', '{"a":{"b":1},"a":2}', 'with a duplicate key'],
    ['a key twice around a list', '{"a":[{"a":1}],"b":[],"a":2}', 'with a duplicate key'],
    ['a key twice, deep inside', '[[{"b":{"a":1,"a":2}}]]', 'with a duplicate key'],
    ['a key __proto__', '{"__proto__":1}', 'with a key __proto__'],
    ['a key __proto__ in other spelling', String.raw`{"a":{"\u005f_proto__":1}}`, 'with a key __proto__'],
    ['no JSON', '{"a":1', 'not JSON'],
    ['two values', '{} {}', 'not JSON'],
    ['nothing', '', 'not JSON'],
    ['a byte order mark', '\uFEFF{}', 'not JSON'],
  ])('with %s', (...[, text, fault]) => expect(parse(text)).toEqual({ fault }))

  test('that is no UTF-8', () => {
    expect(parseStrictly(Buffer.from([0x22, 0xff, 0x22]))).toEqual({ fault: 'not UTF-8' })
  })

  test.each([
    ['[', ']'],
    ['{"a":[', ']}'],
  ])('nested deeper than 32: %s', (open, close) => {
    const each = open.length > 1 ? 2 : 1
    expect(parse(nested(32 / each, open, close))).toHaveProperty('value')
    expect(parse(`[${nested(32 / each, open, close)}]`)).toEqual({ fault: 'nested deeper than 32' })
  })
})
