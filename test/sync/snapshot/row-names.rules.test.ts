/** By which name a row of a snapshot is known again. */
import { describe, expect, test } from 'vitest'
import { hasId, namesOf } from '../../../src/sync/snapshot/snapshot-scan.ts'

const names = (...texts: readonly string[]): string[] =>
  namesOf(
    texts.map(text => JSON.parse(text)),
    texts,
  )

test.each([
  [{ id: 'a' }, true],
  [{ id: '' }, true],
  [{ id: 5 }, false],
  [{}, false],
  [null, false],
  [undefined, false],
])('a row has an id when that is a text: %j, %s', (row, expected) => expect(hasId(row)).toBe(expected))

describe('a row', () => {
  test('with an id is known by it, whatever else it holds', () => {
    expect(names('{"id":"a","x":1}', '{"id":"a","x":2}')).toEqual(['a', 'a'])
  })

  test.each([
    ['the order of its keys', '{"a":1,"b":{"d":2,"c":3}}', '{"b":{"c":3,"d":2},"a":1}'],
    ['the spelling of its numbers', '{"a":1.0}', '{"a":1}'],
    ['the spelling of its texts', '{"a":"\\u00e9"}', '{"a":"é"}'],
    ['the space between its parts', '{"a": [1, 2]}', '{"a":[1,2]}'],
  ])('without one is the same whatever %s', (...[, one, other]) => {
    expect(names(one)).toEqual(names(other))
  })

  test.each([
    ['the order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['a value', '{"a":1}', '{"a":2}'],
    ['a key', '{"a":1}', '{"b":1}'],
    ['a number as a text', '{"a":1}', '{"a":"1"}'],
    ['no value', '{"a":null}', '{"a":{}}'],
    ['a list for its only value', '{"a":[1]}', '{"a":1}'],
    ['a list for an object of its places', '{"a":[1]}', '{"a":{"0":1}}'],
    ['a digit that a number cannot hold', '{"a":9007199254740993}', '{"a":9007199254740992}'],
    ['a key with a quote', '{"a\\"":1}', '{"a":1}'],
  ])('without one differs from another by %s', (...[, one, other]) => {
    expect(names(one)).not.toEqual(names(other))
  })

  test('that a page has twice counts twice', () => {
    const [first, second, third] = names('{"a":1}', '{"a":1}', '{"a":2}')
    expect(first).not.toBe(second)
    expect(first).toMatch(/ 1$/)
    expect(second).toMatch(/ 2$/)
    expect(third).toMatch(/ 1$/)
  })

  test('that has no text is a bug, and gets no name', () => {
    expect(() => namesOf([{}], [])).toThrow(TypeError)
  })

  test('that is nested too deep, or no JSON, is known by its text', () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
    expect(namesOf([null, null], [deep, '{"a":'])).toEqual([`${deep} 1`, '{"a": 1'])
  })
})
