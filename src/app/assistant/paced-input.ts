/** Messages of an assistant, taken no faster than they are answered, and none of any length. */
import { setImmediate } from 'node:timers/promises'
import { UsageError } from '../../lib/errors.ts'
import { lineFeed } from '../../lib/input-file.ts'

/** Bytes. */
const longestMessage = 4 * 1_048_576

/** `ready` resolves when more may come. Throws UsageError. */
export async function* pacedInput(
  stdin: AsyncIterable<Buffer>,
  ready: () => Promise<unknown>,
): AsyncGenerator<Buffer> {
  let length = 0
  for await (const chunk of stdin) {
    const last = chunk.lastIndexOf(lineFeed)
    length = last === -1 ? length + chunk.length : chunk.length - last - 1
    if (length > longestMessage)
      throw new UsageError({
        what: `a message on stdin has more than ${longestMessage / 1_048_576} MB`,
        next: 'the protocol has one message a line',
      })
    yield chunk
    // What was in it is answered, or waits, by then.
    await setImmediate()
    await ready()
  }
}
