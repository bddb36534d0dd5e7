/** `muster serve` in this process over a warehouse of a test, and deliveries signed as the service signs them. */
import { createHmac } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type InboxStore, logStore, tableStore } from '../../src/events/store.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { ReceiverOptions } from '../../src/serve/receiver.ts'
import { type ServeEffects, type ServeRequest, serve } from '../../src/serve/serve.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { atEndOfTest } from '../support/ends.ts'
import type { Warehouse } from '../support/warehouse-fixture.ts'
import { wrappedEngine } from '../support/wrapped-engine.ts'

export const SECRET = 'planted-77ab-signing-secret'

export interface Served {
  readonly url: string
  readonly health: string
  /** Lines of the log, as JSON. */
  readonly log: readonly string[]
  /** As SIGTERM does; resolves when all is stored. */
  stop(): Promise<void>
}

export interface ServedOptions {
  readonly secrets?: readonly string[]
  readonly headerPrefix?: string
  readonly apiKey?: string
  /** Of the service; no request is sent unless events ask for one. */
  readonly baseUrl?: string
  readonly intervals?: Partial<ServeRequest['intervals']>
  readonly inboxDays?: number
  readonly inboxBounds?: ServeRequest['inboxBounds']
  readonly clock?: Clock
  readonly measure?: ServeEffects['measure']
  readonly receiver?: Partial<ReceiverOptions>
  readonly schedule?: ServeRequest['schedule']
  readonly runDag?: (name: string) => Promise<number>
  /** Instead of the usual one, which it may close. */
  readonly store?: (own: InboxStore, engine: Engine) => Promise<InboxStore>
}

/** Looks twenty times a second and reads at once. */
const quick = { tickMs: 50, quietMs: 0, latestMs: 0, minMs: 0 }

const open: Served[] = []

atEndOfTest(async () => {
  for (const served of open.splice(0)) await served.stop()
})

async function storeOf(warehouse: Warehouse, engine: Engine): Promise<InboxStore> {
  if (engine.kind === 'duckdb') return logStore(join(warehouse.landing, '..', 'test.inbox'))
  const address = { url: warehouse.address, shown: 'the test database' }
  return tableStore(
    await openPostgres(address, { scratch: mkdtempSync('/tmp/muster-test-'), stage: engine.stage }),
  )
}

/** The engine stays with the test: the server borrows it and does not close it. */
function borrowed(engine: Engine): Engine {
  return wrappedEngine(engine, () => ({ close: async () => undefined }))
}

export async function served(warehouse: Warehouse, options: ServedOptions = {}): Promise<Served> {
  const stop = new AbortController()
  const log: string[] = []
  const note = (fields: object, text: string): void => void log.push(JSON.stringify({ ...fields, text }))
  let ended: Promise<void> = Promise.resolve()
  const url = await new Promise<string>((resolve, reject) => {
    ended = serve(
      {
        name: 'test',
        connection: {
          baseUrl: options.baseUrl ?? 'http://127.0.0.1:9/api/open/v1',
          apiKey: options.apiKey ?? sandboxKeys.company,
          landing: warehouse.landing,
          retentionDays: 30,
          lookbackMinutes: 15,
          pageCapBytes: 1_048_576,
        },
        verification: {
          headerPrefix: options.headerPrefix ?? 'X-Service',
          secrets: options.secrets ?? [SECRET],
        },
        receiver: {
          host: '127.0.0.1',
          port: 0,
          path: '/webhook',
          allowedHosts: [],
          figuresHosts: [],
          ...options.receiver,
        },
        schedule: options.schedule ?? [],
        intervals: { ...quick, ...options.intervals },
        inboxDays: options.inboxDays ?? 90,
        inboxBounds: options.inboxBounds ?? { events: 1_000_000, bytes: 512e6 },
      },
      {
        open: async () => borrowed(warehouse.engine),
        openStore: async engine => {
          const own = await storeOf(warehouse, engine)
          return options.store?.(own, engine) ?? own
        },
        runDag: options.runDag ?? (async () => 0),
        clock: options.clock ?? systemClock,
        ...(options.measure && { measure: options.measure }),
        rng: () => 0.5,
        signal: stop.signal,
        version: 'test',
        log: { info: note, warn: note },
        onReady: ready => resolve(ready.url),
      },
    )
    ended.catch(reject)
  })
  const running: Served = {
    url,
    health: new URL('/health', url).href,
    log,
    async stop() {
      stop.abort()
      await ended
    },
  }
  open.push(running)
  return running
}

export interface Signed {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

export interface Signing {
  readonly secret?: string
  readonly timestamp?: string
  readonly encoding?: 'hex' | 'base64'
  readonly prefix?: string
  readonly headerPrefix?: string
}

export function signed(body: Buffer | string, how: Signing = {}): Signed {
  const { secret = SECRET, timestamp = new Date().toISOString(), encoding = 'hex' } = how
  const { prefix = '', headerPrefix = 'X-Service' } = how
  const bytes = Buffer.from(body)
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest(encoding)
  return {
    body: bytes,
    headers: {
      'Content-Type': 'application/json',
      [`${headerPrefix}-Signature`]: prefix + digest,
      [`${headerPrefix}-Timestamp`]: timestamp,
    },
  }
}

export function eventBody(
  id: string,
  type = 'timesheet_approved',
  data: object = { timesheet: { id: 't1' } },
) {
  return JSON.stringify({ id, type, createdAt: '2026-11-21T05:00:00.000Z', data })
}

export async function post(url: string, { body, headers }: Signed): Promise<number> {
  const answer = await fetch(url, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}
