/** What others are told of a command that was stopped gets a moment, and no more of it. */

/** Aborted `ms` after `signal` is, which need not ever be. */
export function soonAfter(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController()
  const wait = (): void => void setTimeout(() => controller.abort(signal.reason), ms).unref()
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait, { once: true })
  return controller.signal
}
