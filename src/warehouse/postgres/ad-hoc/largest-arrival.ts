/** Ends a connection on which one answer grows too large: the driver would keep all of it in memory. */
import type { Socket } from 'node:net'
import type pg from 'pg'

/** The result of `ask`, or 'too large' once more than `mostBytes` have arrived; the connection is closed then. */
export async function largestArrival<Result>(
  client: pg.Client,
  mostBytes: number,
  ask: () => Promise<Result>,
): Promise<Result | 'too large'> {
  const { stream } = (client as pg.Client & { connection: { stream: Socket } }).connection
  let bytes = 0
  const count = (data: Buffer): void => {
    bytes += data.length
    if (bytes > mostBytes) stream.destroy()
  }
  stream.on('data', count)
  try {
    return await ask()
  } catch (error) {
    if (bytes > mostBytes) return 'too large'
    throw error
  } finally {
    stream.off('data', count)
  }
}
