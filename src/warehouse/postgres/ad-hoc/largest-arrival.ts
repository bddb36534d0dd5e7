/** Ends a connection on which one answer grows too large: the driver would keep all of it in memory. */
import type { Socket } from 'node:net'
import type pg from 'pg'
import { RowsTooLarge } from '../../query.ts'

/**
 * The result of `ask` and its bytes. Throws RowsTooLarge once more than `mostBytes` have arrived; the connection is closed
 * then.
 */
export async function largestArrival<Result>(
  client: pg.Client,
  mostBytes: number,
  ask: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly bytes: number }> {
  const { stream } = (client as pg.Client & { connection: { stream: Socket } }).connection
  let bytes = 0
  const count = (data: Buffer): void => {
    bytes += data.length
    if (bytes > mostBytes) stream.destroy()
  }
  stream.on('data', count)
  try {
    return { result: await ask(), bytes }
  } catch (error) {
    if (bytes > mostBytes) throw new RowsTooLarge()
    throw error
  } finally {
    stream.off('data', count)
  }
}
