/** What goes wrong with one event on its way to one webhook: drawn from seed and number alone, whatever the timing. */
import { namedRng } from '../../lib/rng.ts'
import { between } from '../data/draw.ts'
import type { EventFaultRates } from './event-options.ts'
import { type Forgery, forgeries } from './signed-request.ts'

export interface Mishaps {
  readonly isLost: boolean
  readonly isDuplicated: boolean
  /** Later deliveries that go first; 0 for none. */
  readonly overtakenBy: number
  /** 0 for none. */
  readonly delayMs: number
  readonly forged: readonly Forgery[]
}

const OVERTAKEN_MOST = 3

export interface Draw {
  readonly seed: number
  readonly webhook: string
  /** Of the event among those of this webhook. */
  readonly number: number
}

export function mishapsOf(
  rates: EventFaultRates,
  longestDelayMs: number,
  { seed, webhook, number }: Draw,
): Mishaps {
  const rng = namedRng(seed, `mishaps ${webhook} ${number}`)
  // Always all of them, in this order: turning one option leaves what the others do as it was.
  const draws = {
    loss: rng(),
    duplicate: rng(),
    reorder: rng(),
    delay: rng(),
    forged: forgeries.map(forgery => ({ forgery, draw: rng() })),
  }
  return {
    isLost: draws.loss < rates.loss,
    isDuplicated: draws.duplicate < rates.duplicate,
    overtakenBy: draws.reorder < rates.reorder ? between(rng, 1, OVERTAKEN_MOST) : 0,
    delayMs: draws.delay < rates.delay ? Math.ceil(rng() * longestDelayMs) : 0,
    forged: draws.forged.filter(({ forgery, draw }) => draw < rates[forgery]).map(({ forgery }) => forgery),
  }
}
