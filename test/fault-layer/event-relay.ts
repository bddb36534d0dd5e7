/**
 * Stands between the sandbox and the receiver of a webhook: deliveries arrive there twice, late, in another order or never,
 * and forged ones arrive beside the genuine ones. What a genuine delivery is answered goes back to the sandbox.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import type { Clock } from '../../src/lib/clock.ts'
import { minuteMs } from '../../src/lib/dates.ts'
import { namedRng } from '../../src/lib/rng.ts'
import { type Delivery, type ServiceEvent, signedRequest } from '../../src/sandbox/events/delivery-queue.ts'
import type { EventSettings, WebhookOptions } from '../../src/sandbox/events/webhook.ts'

const forgeries = ['badSignature', 'staleTimestamp', 'tamperedBody', 'missingHeader'] as const
type Forgery = (typeof forgeries)[number]

/** Share of the events that each fault happens to. A forgery comes beside the genuine delivery, of an event that never was. */
export type EventFaultRates = Partial<
  Readonly<Record<'duplicate' | 'reorder' | 'delay' | 'loss' | Forgery, number>>
>

export type Treatment = 'duplicated' | 'reordered' | 'delayed' | 'lost' | Forgery

export interface TreatedDelivery extends Omit<Delivery, 'outcome'> {
  readonly treatments: readonly Treatment[]
  /** Lost: never sent. Refused: a forgery, as it should be. */
  readonly outcome: Delivery['outcome'] | 'lost' | 'refused'
}

export interface RelayParts {
  readonly webhook: WebhookOptions
  readonly rates: EventFaultRates
  /** The longest delay. */
  readonly delayMs: number
  readonly settings: EventSettings
  readonly seed: number
  readonly clock: Clock
}

export interface EventRelay {
  /** In place of the address of the webhook. */
  readonly url: string
  /** The deliveries of the sandbox with what became of them, each followed by its duplicates and forgeries. */
  treated(deliveries: readonly Delivery[]): readonly TreatedDelivery[]
  /** No other event comes to overtake those that are held back: resolves when nothing waits any more. */
  settled(): Promise<void>
  close(): void
}

interface Sent {
  readonly body: Buffer
  readonly headers: Record<string, string>
}

interface Extra {
  readonly of: string
  readonly delivery: TreatedDelivery
}

interface Fate {
  readonly treatments: readonly Treatment[]
  readonly outcome?: TreatedDelivery['outcome']
}

interface EventFaults {
  readonly isLost: boolean
  readonly isDuplicated: boolean
  /** Later deliveries that go first; 0 for none. */
  readonly overtakenBy: number
  /** 0 for none. */
  readonly delayMs: number
  readonly forged: readonly Forgery[]
}

interface HeldBack {
  readonly release: () => void
  /** Events that must still go first, of those that go at once. */
  left: number
}

const maxOvertaken = 3
/** Twice the age at which receivers are advised to refuse. */
const staleMs = 10 * minuteMs

export async function startEventRelay(parts: RelayParts): Promise<EventRelay> {
  const relay = new Relay(parts)
  const server = createServer((request, response) => void relay.handle(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    treated: deliveries => relay.treated(deliveries),
    settled: () => relay.settled(),
    close: () => {
      relay.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

class Relay {
  readonly #parts: RelayParts
  readonly #agent = new Agent()
  readonly #fates = new Map<string, Fate>()
  readonly #extras: Extra[] = []
  readonly #pending = new Set<Promise<unknown>>()
  #heldBack: HeldBack[] = []

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = { ...request.headers } as Record<string, string>
    for (const name of ['host', 'connection', 'content-length']) delete headers[name]
    const status = await this.#taken({ body: Buffer.concat(chunks), headers })
    response.writeHead(status).end()
  }

  treated(deliveries: readonly Delivery[]): readonly TreatedDelivery[] {
    return deliveries.flatMap(delivery => {
      const { treatments, outcome = delivery.outcome } = this.#fates.get(delivery.id) ?? { treatments: [] }
      const attempts = outcome === 'lost' ? [] : delivery.attempts
      const extras = this.#extras.filter(extra => extra.of === delivery.id)
      return [{ ...delivery, attempts, treatments, outcome }, ...extras.map(extra => extra.delivery)]
    })
  }

  async settled(): Promise<void> {
    for (const { release } of this.#heldBack.splice(0)) release()
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  close(): void {
    void this.#agent.destroy()
  }

  /** The status for the sandbox: that of the receiver unless the delivery is lost or goes later. */
  async #taken(sent: Sent): Promise<number> {
    const id = sent.headers[this.#header('event-id')] ?? ''
    // The sandbox tries again what was refused: its faults were drawn at the first attempt.
    if (this.#fates.has(id)) return this.#post(sent)
    const faults = this.#drawn(JSON.parse(String(sent.body)) as { id: string })
    const overtaken = [...this.#heldBack]
    const { isLost, overtakenBy, delayMs } = faults
    const isLate = !isLost && (overtakenBy > 0 || delayMs > 0)
    const late = [
      ...(overtakenBy > 0 ? (['reordered'] as const) : []),
      ...(delayMs > 0 ? (['delayed'] as const) : []),
    ]
    if (isLost) this.#fates.set(id, { treatments: ['lost'], outcome: 'lost' })
    else this.#fates.set(id, { treatments: late })
    if (isLate) this.#wait(this.#later(sent, faults))
    if (!isLost && faults.isDuplicated) this.#wait(this.#extra(sent, 'duplicated', sent))
    for (const forgery of faults.forged) this.#wait(this.#extra(sent, forgery, this.#forged(sent, forgery)))
    if (isLost || isLate) return 204
    const status = await this.#post(sent)
    this.#letPass(overtaken)
    return status
  }

  /** Drawn from the seed and the event alone, whatever the timing. */
  #drawn({ id }: { readonly id: string }): EventFaults {
    const { seed, rates, delayMs } = this.#parts
    const rng = namedRng(seed, `event faults ${id}`)
    // Always all of them, in this order: turning one fault on leaves what the others do as it was.
    const hits = (fault: keyof EventFaultRates) => rng() < (rates[fault] ?? 0)
    return {
      isLost: hits('loss'),
      isDuplicated: hits('duplicate'),
      overtakenBy: Number(hits('reorder')) * (1 + Math.floor(rng() * maxOvertaken)),
      delayMs: Number(hits('delay')) * Math.ceil(rng() * delayMs),
      forged: forgeries.filter(hits),
    }
  }

  async #later(sent: Sent, { overtakenBy, delayMs }: EventFaults): Promise<void> {
    if (overtakenBy > 0)
      await new Promise<void>(release => this.#heldBack.push({ release, left: overtakenBy }))
    if (delayMs > 0) await this.#parts.clock.sleep(delayMs)
    await this.#post(sent)
  }

  #letPass(overtaken: readonly HeldBack[]): void {
    for (const held of overtaken) {
      held.left -= 1
      if (held.left === 0) held.release()
    }
    this.#heldBack = this.#heldBack.filter(({ left }) => left > 0)
  }

  async #extra(genuine: Sent, treatment: Treatment, sent: Sent): Promise<void> {
    const of = genuine.headers[this.#header('event-id')] ?? ''
    const id = `${of}-${treatment}`
    const at = new Date(this.#parts.clock.now()).toISOString()
    const status = await this.#post({ ...sent, headers: { ...sent.headers, [this.#header('event-id')]: id } })
    const isTaken = status < 300
    const { id: eventId, type, data } = JSON.parse(String(sent.body))
    const [{ id: recordId }] = Object.values(data) as [{ id: string }]
    this.#extras.push({
      of,
      delivery: {
        ...{ id, eventId, type, recordId, webhook: this.#parts.webhook.name ?? '' },
        treatments: [treatment],
        attempts: [{ at, status }],
        outcome: isTaken ? 'delivered' : treatment === 'duplicated' ? 'failed' : 'refused',
      },
    })
  }

  /** Of an event that never happened, so that a receiver that accepts it shows by its id. */
  #forged({ body, headers }: Sent, forgery: Forgery): Sent {
    const { settings, webhook, clock } = this.#parts
    const { id, type, createdAt, data } = JSON.parse(String(body))
    const [{ id: recordId }] = Object.values(data) as [{ id: string }]
    const event: ServiceEvent = { id: `${id}-${forgery}`, type, createdAt, recordId }
    const isStale = forgery === 'staleTimestamp'
    const signed = signedRequest(event, {
      settings,
      secret: forgery === 'badSignature' ? `${webhook.secret} of another` : webhook.secret,
      nowMs: isStale ? clock.now() - staleMs : clock.now(),
      deliveryId: '',
    })
    const own = Object.fromEntries(
      Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    const sent = { body: signed.body, headers: { ...headers, ...own } }
    if (forgery === 'missingHeader') delete sent.headers[this.#header(missingPart(id))]
    return forgery === 'tamperedBody' ? { ...sent, body: tampered(sent.body, recordId) } : sent
  }

  #header(part: string): string {
    return `${this.#parts.settings.headerPrefix}-${part}`.toLowerCase()
  }

  #wait(work: Promise<unknown>): void {
    this.#pending.add(work)
    void work.finally(() => this.#pending.delete(work))
  }

  async #post({ headers, body }: Sent): Promise<number> {
    const { origin, pathname, search } = new URL(this.#parts.webhook.url)
    const answer = await this.#agent.request({
      ...{ origin, path: pathname + search, method: 'POST', headers, body },
    })
    await answer.body.dump()
    return answer.statusCode
  }
}

/** Names another record in as many bytes: only the signature shows it. */
function tampered(body: Buffer, recordId: string): Buffer {
  const other = recordId.slice(0, -1) + (recordId.endsWith('0') ? '1' : '0')
  return Buffer.from(String(body).replace(`"${recordId}"`, `"${other}"`))
}

/** One or the other in half of the events, and the same at every run. */
function missingPart(eventId: string): 'signature' | 'timestamp' {
  return eventId.charCodeAt(eventId.length - 1) % 2 === 0 ? 'signature' : 'timestamp'
}
