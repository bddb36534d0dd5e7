/** Each sentence of the README about what Muster does is claimed once in docs/claims.md, with a test of that name. */
import { expect, test } from 'vitest'
import { claimsOf, paragraphsOf, read, withoutTest } from './claimed.ts'

const claims = claimsOf('What the README claims')

/** Up to work on it. */
const paragraphs = paragraphsOf(read('README.md').slice(0, read('README.md').indexOf('## Work on it')))

const sentences = paragraphs
  .flatMap(one => one.split(/(?<=[.!?])\s+(?=[A-Z`*])/))
  .filter(one => /[.:]$/.test(one))

test('are the sentences of the README', () => {
  expect(claims.length).toBeGreaterThan(40)
  const whole = paragraphs.join(' ').replaceAll('**', '')
  expect(claims.filter(({ claim }) => !whole.includes(claim))).toEqual([])
})

test.each(sentences)('%s', sentence => {
  const plain = sentence.replaceAll('**', '')
  expect(claims.some(({ claim }) => plain.includes(claim))).toBe(true)
})

test('have a test of that name in its file', () => {
  expect(withoutTest(claims)).toEqual([])
})
