/** The readings of `from` and `to`: days of some zone, each inclusive or not, as the options say. */
import { type ContractOptions, optionsOf } from '../options/contract-options.ts'
import { shiftOf } from '../options/zone.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00.000Z`)
  return DAY.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

type Reading = Pick<ContractOptions, 'from' | 'to' | 'day-zone'>

/** Whether a timestamp lies in the range; one that is absent lies in no range. */
export function dayRange(
  from: string | undefined,
  to: string | undefined,
  reading: Reading = optionsOf(),
): (timestamp: unknown) => boolean {
  const isInRange = instantRange(from, to, reading)
  return timestamp => typeof timestamp === 'string' && isInRange(Date.parse(timestamp))
}

export function instantRange(
  from: string | undefined,
  to: string | undefined,
  reading: Reading,
): (timeMs: number) => boolean {
  const first = from === undefined ? -Infinity : midnight(from) + (reading.from === 'inclusive' ? 0 : DAY_MS)
  const end = to === undefined ? Infinity : endOf(midnight(to), reading.to)
  const shift = shiftOf(reading['day-zone'])
  return timeMs => {
    const shown = timeMs + shift(timeMs)
    return shown >= first && shown < end
  }
}

/** The first instant that is outside; timestamps are whole milliseconds. */
function endOf(day: number, reading: ContractOptions['to']): number {
  return reading === 'inclusive' ? day + DAY_MS : reading === 'midnight' ? day + 1 : day
}

function midnight(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`)
}
