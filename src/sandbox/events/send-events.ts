/** From something that happened to signed deliveries at every webhook it concerns. */

import { type EventType, isEventType } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { UsageError } from '../../lib/errors.ts'
import { namedRng } from '../../lib/rng.ts'
import { pick } from '../data/draw.ts'
import { objectId } from '../data/identity.ts'
import type { World } from '../world.ts'
import type { Concern } from './concern.ts'
import { Courier } from './courier.ts'
import { type Delivery, DeliveryLog } from './delivery-log.ts'
import { type EventOptions, eventSettings } from './event-options.ts'
import type { ServiceEvent } from './signed-request.ts'
import { drawSubjects, knownConcern, raiseNews } from './subjects.ts'
import { isTold, type Webhook, webhooksOf } from './webhook.ts'

export interface Burst {
  readonly count: number
  /** Different records the events are about; 300 by default. */
  readonly records?: number
}

/** A webhook without what is private to it: its address, its secret, its headers. */
export interface WebhookShown extends Pick<Webhook, 'name' | 'kind' | 'owner' | 'active'> {
  readonly events: readonly EventType[]
}

export interface EventSender {
  readonly webhooks: readonly WebhookShown[]
  /**
   * Tells every webhook that may hear it. Without a concern it is that of the record; of an id the sandbox does
   * not hold every subscriber is told. Gives the event, delivered or not.
   */
  emit(type: EventType, id: string, concern?: Concern): ServiceEvent
  /** Many events about few records, no faster than they are taken: resolves when the last is on its way. */
  burst(burst: Burst): Promise<void>
  /** The latest deliveries, oldest first. */
  deliveries(): readonly Delivery[]
  /** Resolves when no delivery waits any more, not even for a retry. */
  delivered(): Promise<void>
}

interface Office {
  readonly world: World
  readonly seed: number
  readonly clock: Clock
  readonly options: EventOptions
}

interface OpenEventSender extends EventSender {
  close(): Promise<void>
}

/** Deliveries that may be unsettled before a burst waits: what it holds in memory does not grow with its size. */
const BURST_OPEN = 500
const BURST_RECORDS = 300

export function startEvents({ world, seed, clock, options }: Office): OpenEventSender {
  const settings = eventSettings(options)
  const { headerPrefix } = settings
  const webhooks = (options.webhooks ?? []).flatMap((webhook, index) =>
    webhooksOf(webhook, { world, headerPrefix, number: index + 1 }),
  )
  const log = new DeliveryLog(settings.logSize)
  const ids = namedRng(seed, 'event ids')
  const newId = (prefix?: string) => (prefix ? `${prefix}_` : '') + objectId(ids, clock.now())
  const couriers = webhooks.map(webhook => new Courier(webhook, { settings, seed, clock, log, newId }))
  const emit = (type: EventType, id: string, given?: Concern): ServiceEvent => {
    if (!isEventType(type)) {
      throw new UsageError({ what: `no event type: ${type}`, next: 'see docs/sandbox-events.md' })
    }
    const concern = given ?? knownConcern(world, type, id)
    const event = { id: newId('evt'), type, createdAt: new Date(clock.now()).toISOString(), recordId: id }
    for (const courier of couriers) if (isTold(courier.webhook, type, concern)) courier.take(event)
    return event
  }
  const bursts = namedRng(seed, 'bursts')
  const below = async (limit: number) => {
    await Promise.all(couriers.map(courier => courier.below(limit)))
  }
  return {
    webhooks: webhooks.map(shown),
    emit,
    burst: async ({ count, records = BURST_RECORDS }) => {
      const subjects = drawSubjects(world, bursts, records)
      if (subjects.length === 0) return
      for (let sent = 0; sent < count; sent += 1) {
        await below(BURST_OPEN)
        raiseNews(emit, bursts, pick(bursts, subjects))
      }
    },
    deliveries: () => log.list(),
    delivered: () => below(1),
    close: async () => {
      await Promise.all(couriers.map(courier => courier.close()))
    },
  }
}

function shown({ name, kind, owner, active, events }: Webhook): WebhookShown {
  return { name, kind, owner, active, events: [...events] }
}
