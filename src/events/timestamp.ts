/** The time of signing as the header may spell it: ISO 8601 with its zone, epoch seconds or epoch milliseconds. */

/** Without a zone it is refused: `T05:00:00` with `.123Z.` moved into the body would be signed just as well. */
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
/** From 2001 to 2286 seconds have ten digits and milliseconds thirteen. */
const seconds = /^[1-9]\d{9}$/
const milliseconds = /^[1-9]\d{12}$/

/** How far a signature may be from now, before or after, in milliseconds. */
const toleranceMs = 300_000

/** Milliseconds since the epoch; undefined for any other spelling. */
export function signedAt(text: string): number | undefined {
  if (seconds.test(text)) return Number(text) * 1000
  if (milliseconds.test(text)) return Number(text)
  const time = iso.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

export function isRecent(text: string, nowMs: number): boolean {
  const time = signedAt(text)
  return time !== undefined && Math.abs(nowMs - time) <= toleranceMs
}
