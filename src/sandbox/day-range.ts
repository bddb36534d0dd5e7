/** The one reading of `from` and `to`: days in UTC, both inclusive, `to` up to its last millisecond. */

const DAY = /^\d{4}-\d{2}-\d{2}$/

export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00.000Z`)
  return DAY.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Whether a timestamp lies in the range; one that is absent lies in no range. */
export function dayRange(from: string | undefined, to: string | undefined): (timestamp: unknown) => boolean {
  const first = from === undefined ? -Infinity : Date.parse(`${from}T00:00:00.000Z`)
  const last = to === undefined ? Infinity : Date.parse(`${to}T23:59:59.999Z`)
  return timestamp => {
    if (typeof timestamp !== 'string') return false
    const time = Date.parse(timestamp)
    return time >= first && time <= last
  }
}
