/** Every option of the sandbox's sender, from its record to the row in the warehouse. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { type FaultyEventOptions, openFaultyEvents, webhook } from '../sandbox/events/open-events.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { SECRET, served } from './served.ts'

interface Case {
  readonly name: string
  readonly events: FaultyEventOptions
}

const spellings: readonly Case[] = (['hex', 'base64'] as const).flatMap(encoding =>
  (['', 'sha256='] as const).flatMap(prefix =>
    (['iso', 'seconds', 'milliseconds'] as const).map(timestamp => ({
      name: `${encoding} ${prefix} ${timestamp}`,
      events: { signature: { encoding, prefix }, timestamp },
    })),
  ),
)

const faults: readonly Case[] = [
  { name: 'twice', events: { faults: { duplicate: 1 } } },
  { name: 'out of order', events: { faults: { reorder: 0.5 } } },
  { name: 'late', events: { faults: { delay: 0.5 }, delayMs: 300 } },
  { name: 'lost', events: { faults: { loss: 0.4 } } },
  { name: 'bad signatures', events: { faults: { badSignature: 0.5 } } },
  { name: 'stale timestamps', events: { faults: { staleTimestamp: 0.5 } } },
  { name: 'tampered bodies', events: { faults: { tamperedBody: 0.5 } } },
  { name: 'missing headers', events: { faults: { missingHeader: 0.5 } } },
  {
    name: 'everything at once',
    events: {
      faults: { duplicate: 0.3, reorder: 0.3, delay: 0.3, loss: 0.2, badSignature: 0.2, tamperedBody: 0.2 },
      delayMs: 200,
      concurrency: 20,
    },
  },
]

const still = { quietMs: 600_000, latestMs: 600_000 }
const types = ['timesheet_approved', 'invoice_paid', 'expense_deleted', 'assignment_ended'] as const
const subjects = {
  timesheet_approved: 't1',
  invoice_paid: 'i1',
  expense_deleted: 'e1',
  assignment_ended: 's1',
}

interface Row {
  readonly event_id: string
  readonly type: string
  readonly record_id: string
  readonly n: number
}

/** Sends 20 events, other ones for another seed; gives what should be in the warehouse by the sender's own book. */
async function send(url: string, { name, events }: Case, seed = 0): Promise<Row[]> {
  const headerPrefix = events.headerPrefix ?? 'X-Service'
  const sandbox = await openFaultyEvents(
    { webhooks: [webhook(url, { secret: SECRET, name })], headerPrefix, ...events },
    { clock: systemClock, seed },
  )
  const emitted = Array.from({ length: 20 }, (_, index) => {
    const type = types[index % types.length] ?? 'invoice_paid'
    // Told to the webhook's company, whatever the record says.
    return sandbox.emit(type, subjects[type], { companyId: 'c1', agencyIds: [] })
  })
  await sandbox.delivered()
  const genuine = new Set(emitted.map(({ id }) => id))
  const counts = new Map<string, Row>()
  for (const { eventId, type, recordId, outcome, treatments } of sandbox.deliveries()) {
    const isForged =
      !genuine.has(eventId) || treatments.some(one => /Signature|Timestamp|Body|Header/.test(one))
    if (isForged) expect(outcome).toBe('refused')
    else expect(['delivered', 'lost']).toContain(outcome)
    if (isForged || outcome === 'lost') continue
    const n = (counts.get(eventId)?.n ?? 0) + 1
    counts.set(eventId, { event_id: eventId, type, record_id: recordId, n })
  }
  await sandbox.close()
  return [...counts.values()]
}

const byId = (rows: readonly Row[]): Row[] =>
  [...rows].sort((one, other) => (one.event_id < other.event_id ? -1 : 1))

async function held(warehouse: Warehouse): Promise<Row[]> {
  const rows = await warehouse.engine.rows<Row>(
    'select event_id, type, record_id, delivered_count as n from star.fact_webhook_event',
  )
  return byId(rows.map(row => ({ ...row, n: Number(row.n) })))
}

describeOnEngines('what the sandbox sends', bench => {
  test('arrives in every spelling and through every fault, once, and no forgery does', async () => {
    const warehouse = await bench.warehouse()
    const running = await served(warehouse, { intervals: still })
    const sent = await Promise.all(
      [...spellings, ...faults].map((one, index) => send(running.url, one, index + 1)),
    )
    await running.stop()
    expect(await held(warehouse)).toEqual(byId(sent.flat()))
    expect(sent.flat().length).toBeGreaterThan(350)
  })

  test('arrives under another header prefix, which is the only one taken', async () => {
    const warehouse = await bench.warehouse()
    const running = await served(warehouse, { intervals: still, headerPrefix: 'X-Acme' })
    const sent = await send(running.url, { name: 'prefix', events: { headerPrefix: 'X-Acme' } })
    await running.stop()
    expect(await held(warehouse)).toEqual(byId(sent))
  })
})
