/** CSV that spreadsheets open as figures and texts, never as formulas. */
import { expect, test } from 'vitest'
import { toCsv } from '../../src/dashboard/csv.ts'

test.each([
  ['=1+1', "'=1+1"],
  ['@cmd', "'@cmd"],
  ['＝1+1', "'＝1+1"],
  ['-5.25', '-5.25'],
  ['-5 of them', "'-5 of them"],
  ['+44 20', "'+44 20"],
  ['a,b', '"a,b"'],
  ['say "a"', '"say ""a"""'],
  ['two\nlines', '"two\nlines"'],
  [null, ''],
  [0, '0'],
  [false, 'false'],
])('%j is written %s', (value, text) => {
  expect(toCsv(['column'], [{ column: value }])).toBe(`column\r\n${text}\r\n`)
})
