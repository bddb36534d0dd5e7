/** Turns what happens to records into signed deliveries to every webhook that it concerns. */
import { type EventType, eventTypes, isEventType } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import { unknownName } from '../options/contract-options.ts'
import type { World } from '../world.ts'
import type { Audience } from './audience.ts'
import { type Delivery, DeliveryLog } from './delivery-log.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import { type EventOptions, eventSettings } from './event-options.ts'
import type { ServiceEvent } from './signed-request.ts'
import { drawSubjects, knownAudience, raiseUpdate } from './subjects.ts'
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
   * Tells every webhook that may know. Without an audience it is that of the record; of an id that the sandbox does
   * not hold every subscriber is told. Returns the event, delivered or not.
   */
  emit(type: EventType, id: string, audience?: Audience): ServiceEvent
  /** Many events about few records, no faster than they are taken: resolves when the last is on its way. */
  burst(burst: Burst): Promise<void>
  /** The latest deliveries, oldest first. */
  deliveries(): readonly Delivery[]
  /** Resolves when no delivery waits any more, not even for a retry. */
  delivered(): Promise<void>
}

interface Sending {
  readonly world: World
  readonly seed: number
  readonly clock: Clock
  readonly options: EventOptions
}

interface OpenEventSender extends EventSender {
  close(): Promise<void>
}

/** Deliveries that may be unsettled before a burst waits: its memory does not grow with its size. */
const mostUnsettled = 500
const burstRecords = 300

export function startEvents({ world, seed, clock, options }: Sending): OpenEventSender {
  const settings = eventSettings(options)
  const { headerPrefix } = settings
  const webhooks = (options.webhooks ?? []).flatMap((webhook, index) =>
    webhooksOf(webhook, { world, headerPrefix, number: index + 1 }),
  )
  const log = new DeliveryLog(settings.logSize)
  const ids = new Draw(namedRng(seed, 'event ids'))
  const newId = (prefix?: string) => (prefix ? `${prefix}_` : '') + ids.id(clock.now())
  const queues = webhooks.map(webhook => new DeliveryQueue(webhook, { settings, seed, clock, log, newId }))
  const emit = (type: EventType, id: string, given?: Audience): ServiceEvent => {
    if (!isEventType(type)) {
      throw unknownName('event type', type, eventTypes)
    }
    const audience = given ?? knownAudience(world, type, id)
    const event = { id: newId('evt'), type, createdAt: new Date(clock.now()).toISOString(), recordId: id }
    for (const queue of queues) if (isTold(queue.webhook, type, audience)) queue.add(event)
    return event
  }
  const bursts = new Draw(namedRng(seed, 'bursts'))
  const below = async (limit: number) => {
    await Promise.all(queues.map(queue => queue.below(limit)))
  }
  return {
    webhooks: webhooks.map(shown),
    emit,
    burst: async ({ count, records = burstRecords }) => {
      const subjects = drawSubjects(world, bursts, records)
      if (subjects.length === 0) return
      for (let sent = 0; sent < count; sent += 1) {
        await below(mostUnsettled)
        raiseUpdate(emit, bursts, bursts.pick(subjects))
      }
    },
    deliveries: () => log.list(),
    delivered: () => below(1),
    close: async () => {
      await Promise.all(queues.map(queue => queue.close()))
    },
  }
}

function shown({ name, kind, owner, active, events }: Webhook): WebhookShown {
  return { name, kind, owner, active, events: [...events] }
}
