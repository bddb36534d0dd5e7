/** An error is expected where undefined is thrown. */
import { expect, test } from 'vitest'

const nothing = (): never => {
  throw undefined
}

test.each([
  ['thrown', () => expect(nothing).toThrow('a message')],
  ['thrown, by a pattern', () => expect(nothing).toThrow(/a message/)],
  ['rejected with', () => expect(Promise.reject(undefined)).rejects.toThrow('a message')],
])('undefined that is %s has no message', async (_, expectation) => {
  await expect(Promise.resolve().then(expectation)).rejects.toMatchObject({
    message: expect.stringContaining('undefined was thrown'),
  })
})

test('errors are compared as before', async () => {
  const fail = (): never => {
    throw new Error('a message, whole')
  }
  expect(fail).toThrow('a message')
  expect(() => undefined).not.toThrow()
  await expect(Promise.reject(new Error('a message'))).rejects.toThrow(/message/)
})
