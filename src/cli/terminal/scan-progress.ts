/** Shows how many landed scans a command has searched. */
import { counted, formatNumber } from '../../lib/counted.ts'
import type { CommandContext } from '../context.ts'

/** One line every five seconds: lines end up in files and mails. */
export function everyFewSeconds({ clock, notice }: CommandContext): (done: number, scans: number) => void {
  let next = clock.now() + 5_000
  return (done, scans) => {
    if (clock.now() < next) return
    next = clock.now() + 5_000
    notice(`landed pages: ${formatNumber(done)} of ${counted(scans, 'scan')} searched`)
  }
}
