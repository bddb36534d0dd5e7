/** Whether an answer is about the record that was asked for. */
import { describe, expect, test } from 'vitest'
import { isAsked } from '../../../src/api/client/client.ts'

const full = '65f0c2a1b3d4e5f60718293a'
const other = '65f0c2a1b3d4e5f60718293b'

describe('a record', () => {
  test.each<[string, string, object, boolean]>([
    ['with the id of the path', full, { id: full }, true],
    ['with another id', full, { id: other }, false],
    ['without an id', full, { name: 'x' }, false],
    ['whose id is a number', '1', { id: 1 }, false],
    ['without an id whose short id stands in the path', 'nano', { nanoid: 'nano' }, false],
    ['whose short id stands in the path', 'nano', { id: full, nanoid: 'nano' }, true],
    ['with another short id', 'nano', { id: full, nanoid: 'other' }, false],
    ['whose short id is no text', 'nano', { id: full, nanoid: 7 }, true],
    ['with a full id and no short one, for a short id in the path', 'nano', { id: full }, true],
    ['with a short id of its own, for a short id in the path', 'nano', { id: 'other' }, false],
    ['with a full id in capitals', 'nano', { id: full.toUpperCase() }, true],
    ['with an id that is longer than a full one', 'nano', { id: `${full}0` }, false],
    ['with an id that begins unlike a full one', 'nano', { id: `x${full}` }, false],
    ['for an id that is longer than a full one', `${full}0`, { id: other }, true],
    ['for an id that begins unlike a full one', `x${full}`, { id: other }, true],
    ['for an id that is escaped', 'a%3Ab', { id: 'a:b' }, true],
  ])('%s', (...[, asked, record, expected]) => {
    expect(isAsked(`/trades/${asked}`, { ...record })).toBe(expected)
  })
})

describe('what stands below a company', () => {
  test.each<[string, object, boolean]>([
    ['is the one of its company', { company: { id: 'c1' }, id: 'x' }, true],
    ['is not the one of another company', { company: { id: 'c2' }, id: 'c1' }, false],
    ['is taken where it names no company', { entries: [] }, true],
    ['is not taken where its company is null', { company: null }, false],
  ])('%s', (_name, record, expected) => {
    expect(isAsked('/companies/c1/competency-matrix', { ...record })).toBe(expected)
  })
})

test.each([
  ['/sites', 'a list'],
  ['/requisitions/recruitment-metrics/time-to-fill', 'an aggregate'],
  ['/requisitions/recruitment-metrics', 'an aggregate whose path looks like that of a record'],
  ['/companies/c1/user-permissions', 'a list below a record'],
  ['/me', 'the key'],
  ['/workers', 'a write'],
  ['/x/trades/a', 'a path that ends like one of a record'],
  ['/trades/a/b', 'a path that begins like one of a record'],
  ['/companies/c1/competency-matrix/x', 'a path below what stands below a company'],
])('%s has no id of a record: %s', path => {
  expect(isAsked(path, { id: 'other' })).toBe(true)
})
