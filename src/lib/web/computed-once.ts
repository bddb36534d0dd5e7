/** Computes an answer once per interval, however many callers ask for it. */
import type { Clock } from '../clock.ts'

export function computedOnce<Answer>(
  compute: () => Promise<Answer>,
  { everyMs, clock }: { readonly everyMs: number; readonly clock: Pick<Clock, 'now'> },
): () => Promise<Answer> {
  let last: Promise<Answer> | undefined
  /** Callers share a computation that is under way, however long it takes. */
  let staleAt = Number.POSITIVE_INFINITY
  const start = async (): Promise<Answer> => {
    staleAt = Number.POSITIVE_INFINITY
    try {
      const answer = await compute()
      staleAt = clock.now() + everyMs
      return answer
    } catch (error) {
      staleAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }
  return () => {
    if (!last || clock.now() >= staleAt) last = start()
    return last
  }
}
