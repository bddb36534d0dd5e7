/** A small world of two companies and two agencies, and a clock, for the tests of events. */
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import type { EventOptions, WebhookOptions } from '../../../src/sandbox/events/event-options.ts'
import { type OpenSandbox, openSandbox } from '../open-sandbox.ts'

export const SECRET = 'secret-1f7c-of-webhooks'
export const NOW = Date.parse('2026-11-02T08:00:00.000Z')

const ref = (id: string) => ({ id, name: id })
const of = (company: string, agency: string) => ({ company: ref(company), agency: ref(agency) })

export const records = {
  companies: [ref('c1'), ref('c2')],
  agencies: [ref('a1'), ref('a2')],
  timesheets: [
    { id: 't1', ...of('c1', 'a1'), assignment: { id: 's1' } },
    { id: 't2', ...of('c2', 'a2'), assignment: { id: 's2' } },
  ],
  expenses: [{ id: 'e1', ...of('c1', 'a2') }],
  invoices: [
    { id: 'i1', ...of('c1', 'a1'), invoiceType: 'supplierToClient' },
    { id: 'i2', ...of('c1', 'a1'), invoiceType: 'mspToClient' },
    { id: 'i3', ...of('c1', 'a1'), invoiceType: 'supplierToClient', status: 'draft' },
  ],
}

/** Stands still at NOW but for sleeping, which takes a hundredth of the time and is noted. */
export function quickClock(slept: number[] = []): Clock {
  let now = NOW
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      slept.push(ms)
      await systemClock.sleep(ms / 100, signal)
      now += ms
    },
  }
}

export function webhook(url: string, parts: Partial<WebhookOptions> = {}): WebhookOptions {
  return { url, secret: SECRET, kind: 'company', ...parts }
}

export function openEvents(
  events: EventOptions,
  { seed = 1, clock = quickClock() }: { seed?: number; clock?: Clock } = {},
): Promise<OpenSandbox> {
  return openSandbox({ records, events, seed, clock })
}
