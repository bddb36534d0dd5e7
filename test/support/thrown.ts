/** Lets `toThrow(message)` fail where undefined is thrown, which Vitest takes for any error. */
import { chai } from 'vitest'

type Method = (this: object, ...expected: unknown[]) => unknown

chai.use((chai, { flag, overwriteMethod }) => {
  for (const name of ['toThrow', 'toThrowError'])
    overwriteMethod(
      chai.Assertion.prototype,
      name,
      (before: Method): Method =>
        function (...expected) {
          const thrown = flag(this, 'object')
          if (flag(this, 'promise') === 'rejects')
            flag(this, 'object', thrown ?? new Error('undefined was thrown'))
          if (typeof thrown === 'function')
            flag(this, 'object', () => {
              try {
                return thrown()
              } catch (error) {
                throw error ?? new Error('undefined was thrown')
              }
            })
          return before.apply(this, expected)
        },
    )
})
