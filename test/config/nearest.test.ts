/** Suggestions for names that were mistyped, and none for words that have nothing to do with any of them. */
import { expect, test } from 'vitest'
import { choiceOf, didYouMean, nearest } from '../../src/config/nearest.ts'

const names = ['sync', 'sweep', 'status']

test.each([
  ['synk', 'sync'],
  ['swep', 'sweep'],
  ['xyz', undefined],
  ['', undefined],
])('%j is nearest to %s', (name, found) => expect(nearest(name, names)).toBe(found))

test('says which name was meant, and which others there are', () => {
  expect([didYouMean('synk', names), didYouMean('xyz', names)]).toEqual([', did you mean sync?', ''])
  expect([
    choiceOf('synk', names),
    choiceOf('synk', ['sync', 'sweep']),
    choiceOf('synk', ['sync']),
    choiceOf('xyz', names),
  ]).toEqual([
    'did you mean sync? The others are sweep, status',
    'did you mean sync? The other is sweep',
    'did you mean sync?',
    'name one of sync, sweep, status',
  ])
})
