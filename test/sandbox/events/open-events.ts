/** A small world of two companies and two agencies, and a clock, for the tests of events. */
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { type EventOptions, eventSettings, type WebhookOptions } from '../../../src/sandbox/events/webhook.ts'
import {
  type EventFaultRates,
  type EventRelay,
  startEventRelay,
  type TreatedDelivery,
} from '../../fault-layer/event-relay.ts'
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

export interface FaultyEventOptions extends EventOptions {
  readonly faults?: EventFaultRates
  /** The longest delay of the `delay` fault. */
  readonly delayMs?: number
}

export interface FaultyEvents extends Omit<OpenSandbox, 'deliveries'> {
  deliveries(): readonly TreatedDelivery[]
}

/** The same with a relay before the only webhook, whose faults happen to what the sandbox delivers. */
export async function openFaultyEvents(
  { faults: rates = {}, delayMs = 5000, ...events }: FaultyEventOptions,
  { seed = 1, clock = quickClock() }: { seed?: number; clock?: Clock } = {},
): Promise<FaultyEvents> {
  const [target] = events.webhooks ?? []
  if (!target) throw new Error('there is no webhook')
  const settings = eventSettings(events)
  const relay: EventRelay = await startEventRelay({
    ...{ webhook: target, rates, delayMs, settings, seed, clock },
  })
  const sandbox = await openEvents({ ...events, webhooks: [{ ...target, url: relay.url }] }, { seed, clock })
  return {
    ...sandbox,
    deliveries: () => relay.treated(sandbox.deliveries()),
    delivered: async () => {
      await sandbox.delivered()
      await relay.settled()
    },
    close: async () => {
      relay.close()
      await sandbox.close()
    },
  }
}
