/** `--clock-shift` of the simulation and of torture: by how much the clock of the machine is wrong. */
import { dayMs, hourMs, minuteMs } from '../../src/lib/dates.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: minuteMs, h: hourMs, d: dayMs }

/** Of `-2h`, `0` or `-2h,0,2d`: milliseconds, in the order given. */
export function shiftsOf(text: string): number[] {
  return text.split(',').map(word => {
    const [, sign, amount, unit] = /^([+-]?)(\d+)([smhd]?)$/.exec(word) ?? []
    const ms = Number(amount) * (unitMs[unit ?? ''] ?? 1)
    if (amount === undefined || (ms > 0 && !unit))
      throw new Error(`${word} is no clock shift: give some of -2h, 90s, 0 or 2d with commas between`)
    return sign === '-' ? -ms : ms
  })
}

/** The environment of a program whose clock is wrong by the first shift, and by the second once it has run for `afterMs`. */
export const shiftedClock = (shift: number, set?: { readonly to: number; readonly afterMs: number }) => ({
  NODE_OPTIONS: `--import=${new URL('shifted-clock.mjs', import.meta.url).href}`,
  SHIFTED_CLOCK: set ? `${shift},${set.to}@${Math.round(set.afterMs)}` : String(shift),
})

/** A value that begins with a dash is taken for an option, unless it is joined to its own. */
export const withJoinedShift = (args: readonly string[]): string[] =>
  args.flatMap((arg, index) => {
    if (args[index - 1] === '--clock-shift') return []
    return arg === '--clock-shift' ? [`${arg}=${args[index + 1] ?? ''}`] : [arg]
  })
