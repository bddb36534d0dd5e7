/** The faults that events may meet on their way to a webhook, and those that one event meets. */
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'

export const forgeries = ['badSignature', 'staleTimestamp', 'tamperedBody', 'missingHeader'] as const
export type Forgery = (typeof forgeries)[number]

/** Each as a share of events from 0 to 1; forgeries come beside the genuine delivery. */
export interface EventFaultRates {
  /** Sent twice, with two delivery ids. */
  readonly duplicate: number
  /** Held back until one to three later ones have gone that are not held back themselves; at most a second. */
  readonly reorder: number
  /** Sent up to `delayMs` late. */
  readonly delay: number
  /** Never sent. */
  readonly loss: number
  /** Forged: signed with another secret. */
  readonly badSignature: number
  /** Forged: rightly signed ten minutes ago. */
  readonly staleTimestamp: number
  /** Forged: changed after it was signed. */
  readonly tamperedBody: number
  /** Forged: without its signature or its timestamp. */
  readonly missingHeader: number
}

export const noFaults: EventFaultRates = {
  duplicate: 0,
  reorder: 0,
  delay: 0,
  loss: 0,
  badSignature: 0,
  staleTimestamp: 0,
  tamperedBody: 0,
  missingHeader: 0,
}

export interface EventFaults {
  readonly isLost: boolean
  readonly isDuplicated: boolean
  /** Later deliveries that go first; 0 for none. */
  readonly overtakenBy: number
  /** 0 for none. */
  readonly delayMs: number
  readonly forged: readonly Forgery[]
}

const mostOvertaken = 3

interface EventPlace {
  readonly seed: number
  readonly webhook: string
  /** Of the event among those of this webhook. */
  readonly number: number
}

/** Drawn from the seed and the number of the event alone, whatever the timing. */
export function drawnFaults(
  rates: EventFaultRates,
  longestDelayMs: number,
  { seed, webhook, number }: EventPlace,
): EventFaults {
  const rng = namedRng(seed, `mishaps ${webhook} ${number}`)
  // Always all of them, in this order: turning one fault on leaves what the others do as it was.
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
    overtakenBy: draws.reorder < rates.reorder ? new Draw(rng).between(1, mostOvertaken) : 0,
    delayMs: draws.delay < rates.delay ? Math.ceil(rng() * longestDelayMs) : 0,
    forged: draws.forged.filter(({ forgery, draw }) => draw < rates[forgery]).map(({ forgery }) => forgery),
  }
}
