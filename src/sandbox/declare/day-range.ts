/** The filter `from` to `to`: days of some zone, each of which belongs to the range or not, as the options say. */
import { dayMs } from '../../lib/dates.ts'
import { shiftOf } from '../../lib/zones.ts'
import type { ContractOptions } from '../options/contract-options.ts'

export interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Whether an instant lies in the range. */
export function instantRange({ from, to }: Days, options: ContractOptions): (timeMs: number) => boolean {
  const first = from === undefined ? -Infinity : midnight(from) + (options.from === 'inclusive' ? 0 : dayMs)
  const end = to === undefined ? Infinity : endOf(midnight(to), options.to)
  const shift = shiftOf(options['day-zone'])
  return timeMs => {
    const shown = timeMs + shift(timeMs)
    return shown >= first && shown < end
  }
}

/** The same of a timestamp; one that is absent lies in no range. */
export function timestampRange(days: Days, options: ContractOptions): (timestamp: unknown) => boolean {
  const isInRange = instantRange(days, options)
  return timestamp => typeof timestamp === 'string' && isInRange(Date.parse(timestamp))
}

/** The first instant outside the range; timestamps are whole milliseconds. */
function endOf(day: number, to: ContractOptions['to']): number {
  return to === 'inclusive' ? day + dayMs : to === 'midnight' ? day + 1 : day
}

function midnight(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`)
}
