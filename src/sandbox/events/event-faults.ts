/** The faults that events may meet on their way to a webhook, and those that one event meets. */
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'

export const forgeries = ['badSignature', 'staleTimestamp', 'tamperedBody', 'missingHeader'] as const
export type Forgery = (typeof forgeries)[number]

/** What each fault does to its share of the events. A forgery comes beside the genuine delivery. */
export const eventFaults = {
  duplicate: 'sent twice, with two delivery ids',
  reorder: 'held back for at most a second, until one to three later events that are not held back have gone',
  delay: 'sent up to `delayMs` late',
  loss: 'never sent',
  badSignature: 'forged: signed with another secret',
  staleTimestamp: 'forged: signed correctly, ten minutes ago',
  tamperedBody: 'forged: changed after it was signed',
  missingHeader: 'forged: without its signature or its timestamp',
} as const

/** Shares from 0 to 1. */
export type EventFaultRates = Readonly<Record<keyof typeof eventFaults, number>>

export const noFaults = Object.fromEntries(
  Object.keys(eventFaults).map(fault => [fault, 0]),
) as EventFaultRates

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
