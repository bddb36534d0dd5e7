/** What the bytes of a value tell of its form, and where it ends. */
import { expect, test } from 'vitest'
import type { ColumnType } from '../../src/contract/fields/column.ts'
import { leafForm, notPlain } from '../../src/load/page/forms.ts'

/** The length of the value as it was read, with something before and behind it. */
function lengthOf(type: ColumnType, json: string, { key = 'x', behind = ',"y":1}' } = {}): number {
  const end = leafForm(key, type, undefined)?.afterPlain(Buffer.from(`{"x":${json}${behind}`), 5) ?? notPlain
  return end === notPlain ? notPlain : end - 5
}

test.each<[ColumnType, string[], string[]]>([
  [
    'money',
    ['0', '-1.25', '12', '99.9'],
    ['1.', '.5', '1e3', '"1"', '-', '12x', 'true', '1234567890123456', '{'],
  ],
  ['boolean', ['true', 'false'], ['truex', 'tru', 'fals', '"true"', '1', '{}']],
  ['text', ['""', '"a\\"b"', '"é"', '"\\\\"'], ['1', 'true', '[]']],
  [
    'timestamp',
    ['"2026-03-01T09:00:00.000Z"', '"2026-03-01T09:00:00Z"'],
    [
      '"2026-03-01"',
      '"2026-13-01T09:00:00Z"',
      '"2026-03-01T09:00:00.000"',
      '"2026-03-01T09:00:00.00Z"',
      '"2026-03-01T09:00:00ZZ"',
      '1',
      '"',
    ],
  ],
])('%s', (type, plain, others) => {
  for (const behind of [',"y":1}', '}', ']', ' }', '\n'])
    for (const json of plain)
      expect([json, lengthOf(type, json, { behind })]).toEqual([
        json,
        json.length + (json.includes('é') ? 1 : 0),
      ])
  for (const json of others) expect([json, lengthOf(type, json)]).toEqual([json, notPlain])
})

test('an id', () => {
  const id = (json: string) => lengthOf('text', json, { key: 'companyId' })
  expect(id('"a-1"')).toBe(5)
  for (const json of ['""', '"-1"', '"a b"', '"a\\u0062"', `"${'a'.repeat(65)}"`, '7', 'null'])
    expect(id(json)).toBe(notPlain)
})

test('bytes that end within a value', () => {
  const whole: [ColumnType, string][] = [
    ['money', '12.5'],
    ['boolean', 'true'],
    ['text', '"abc"'],
    ['timestamp', '"2026-03-01T09:00:00.000Z"'],
  ]
  for (const [type, json] of whole)
    for (let length = 1; length < json.length; length += 1)
      expect(lengthOf(type, json.slice(0, length), { behind: '' })).toBe(notPlain)
})
