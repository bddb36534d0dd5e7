/** Turns changes of records into signed deliveries to every webhook that they concern. */
import { type EventType, eventTypes, isEventType } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import { unknownName } from '../options.ts'
import type { World } from '../world.ts'
import { type Audience, drawSubjects, knownAudience, raiseUpdate } from './audience.ts'
import { type Delivery, DeliveryQueue, type ServiceEvent } from './delivery-queue.ts'
import { type EventOptions, eventSettings, isSubscribed, type Webhook, webhooksOf } from './webhook.ts'

interface Burst {
  readonly count: number
  /** Different records the events are about; 300 by default. */
  readonly records?: number
}

/** A webhook without its confidential fields: address, secret and headers. */
type WebhookShown = ReturnType<typeof withoutSecrets>

export interface EventSender {
  readonly webhooks: readonly WebhookShown[]
  /**
   * Sends the event to every subscriber in its audience, by default that of the record; for an unknown id, to every
   * subscriber. Returns the event, delivered or not.
   */
  emit(type: EventType, id: string, audience?: Audience): ServiceEvent
  /** Sends many events about few records, no faster than receivers take them; resolves when the last one is queued. */
  burst(burst: Burst): Promise<void>
  /** The latest deliveries, oldest first. */
  deliveries(): readonly Delivery[]
  /** Resolves when no delivery is waiting, including for a retry. */
  delivered(): Promise<void>
}

interface EventSending {
  readonly world: World
  readonly seed: number
  readonly clock: Clock
  readonly options: EventOptions
}

interface OpenEventSender extends EventSender {
  close(): Promise<void>
}

/** Maximum unsettled deliveries before a burst waits, so that its memory does not grow with its size. */
const maxUnsettled = 500
const burstRecords = 300

export function startEvents({ world, seed, clock, options }: EventSending): OpenEventSender {
  const settings = eventSettings(options)
  const { headerPrefix } = settings
  const webhooks = (options.webhooks ?? []).flatMap((webhook, index) =>
    webhooksOf(webhook, { world, headerPrefix, number: index + 1 }),
  )
  const log: Delivery[] = []
  const ids = new Draw(namedRng(seed, 'event ids'))
  const newId = (prefix?: string) => (prefix ? `${prefix}_` : '') + ids.id(clock.now())
  const queues = webhooks.map(webhook => new DeliveryQueue(webhook, { settings, seed, clock, log, newId }))
  const emit = (type: EventType, id: string, given?: Audience): ServiceEvent => {
    if (!isEventType(type)) {
      throw unknownName('event type', type, eventTypes)
    }
    const audience = given ?? knownAudience(world, type, id)
    const event = { id: newId('evt'), type, createdAt: new Date(clock.now()).toISOString(), recordId: id }
    for (const queue of queues) if (isSubscribed(queue.webhook, type, audience)) queue.add(event)
    return event
  }
  const bursts = new Draw(namedRng(seed, 'bursts'))
  const below = async (limit: number) => {
    await Promise.all(queues.map(queue => queue.below(limit)))
  }
  return {
    webhooks: webhooks.map(withoutSecrets),
    emit,
    burst: async ({ count, records = burstRecords }) => {
      const subjects = drawSubjects(world, bursts, records)
      if (subjects.length === 0) return
      for (let sent = 0; sent < count; sent += 1) {
        await below(maxUnsettled)
        raiseUpdate(emit, bursts, bursts.pick(subjects))
      }
    },
    deliveries: () => log.slice(-settings.logSize),
    delivered: () => below(1),
    close: async () => {
      await Promise.all(queues.map(queue => queue.close()))
    },
  }
}

function withoutSecrets({ name, kind, owner, active, events }: Webhook) {
  return { name, kind, owner, active, events: [...events] } as const
}
