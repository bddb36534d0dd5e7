/** Formats and check characters against numbers worked out by hand or printed by their issuers as examples. */
import { describe, expect, test } from 'vitest'
import { fileTypeOf, isFileName } from '../../src/lib/file-kind.ts'
import {
  isNationalInsurance,
  isPassportOrShareCode,
  isPps,
  plainNumber,
} from '../../src/lib/text/identity-number.ts'

describe('a National Insurance number', () => {
  test.each(['AB123456C', 'ab 12 34 56 c', 'JG-10-37-59-A'])('is %s', text =>
    expect(isNationalInsurance(text)).toBe(true),
  )
  test.each([
    ['a prefix that is never issued', 'GB123456A'],
    ['a first letter that is never used', 'QA123456A'],
    ['an O in second place', 'AO123456A'],
    ['a suffix beyond D', 'AB123456E'],
    ['five digits', 'AB12345C'],
    ['no suffix', 'AB123456'],
    ['nothing', ''],
  ])('has not %s', (_, text) => expect(isNationalInsurance(text)).toBe(false))
})

describe('a PPS number', () => {
  // 1*8+2*7+3*6+4*5+5*4+6*3+7*2 = 112, 112 mod 23 = 20 is T; with a second A 121 mod 23 = 6 is F.
  test.each(['1234567T', '1234567TW', '1234567FA', '1234567 fa'])('is %s', text =>
    expect(isPps(text)).toBe(true),
  )
  test.each(['1234567A', '1234567TA', '1234567FB', '7654321T', '123456T', '1234567'])('is not %s', text =>
    expect(isPps(text)).toBe(false),
  )
  test('with the sum a multiple of 23 ends in W', () => {
    // 0*8+0*7+0*6+0*5+0*4+1*3+10*2 can not be; 1*8+1*7+1*6+0*5+0*4+0*3+1*2 = 23.
    expect(isPps('1110001W')).toBe(true)
    expect(isPps('1110001A')).toBe(false)
  })
})

test('a passport number or share code has 6 to 9 letters and digits', () => {
  for (const text of ['123456789', 'W12 345 67X', 'C01X00']) expect(isPassportOrShareCode(text)).toBe(true)
  for (const text of ['12345', '1234567890', 'AB_12345', '']) expect(isPassportOrShareCode(text)).toBe(false)
  expect(plainNumber('w12 345-67x')).toBe('W1234567X')
})

test('a file is what its first bytes say', () => {
  expect(fileTypeOf(Buffer.from('%PDF-1.7 …'))).toBe('application/pdf')
  expect(fileTypeOf(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe('image/jpeg')
  expect(fileTypeOf(Buffer.from('\x89PNG\r\n\x1a\n…', 'latin1'))).toBe('image/png')
  for (const text of ['PK\x03\x04', '%PD', '', '<svg>']) expect(fileTypeOf(Buffer.from(text))).toBeUndefined()
})

test('a file name has an extension and no path', () => {
  for (const name of ['cv.pdf', 'a b.JPEG', 'x.y.png', `${'x'.repeat(251)}.pdf`])
    expect(isFileName(name)).toBe(true)
  for (const name of ['', 'cv', '.pdf', 'a/b.pdf', '..\\b.pdf', 'cv.', `${'x'.repeat(252)}.pdf`, 'a\n.pdf']) {
    expect(isFileName(name), name).toBe(false)
  }
})
