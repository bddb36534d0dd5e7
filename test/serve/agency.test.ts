/** `serve` on the key of an agency: its records arrive, and what it may not read is told and left alone. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { readScopes } from '../../src/sandbox/keys/keys.ts'
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { eventBody, post, served, signed } from './served.ts'
import { asked, patient, settled } from './settled.ts'

const apiKey = 'an-agency-that-sees-no-money'
const hidden = ['read:invoices', 'read:credit-notes']
const scopes = readScopes.filter(scope => !hidden.includes(scope))

/** Milliseconds: the next full minute is a minute away. */
const minute = 60_000

/** Ahead of the system's, so that nothing was read before events of now; what waits for it looks often. */
function movableClock(): Clock & { ahead: number } {
  return {
    ahead: minute + 1000 - (Date.now() % minute),
    now() {
      return Date.now() + this.ahead
    },
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal),
  }
}

function ofAgencies(
  { world }: OpenSandbox,
  name: 'timesheets' | 'assignments',
): { own: string; other: string } {
  const agency = String(world.all('agencies')[0]?.id)
  const agencyOf = (record: object): unknown => (record as { agency?: { id: unknown } }).agency?.id
  const first = (isOwn: boolean): string =>
    String(world.all(name).find(record => (agencyOf(record) === agency) === isOwn)?.id)
  return { own: first(true), other: first(false) }
}

describeOnEngines('events of an agency', bench => {
  test.runIf(thorough)(
    'are read as far as its key goes, and the rest is recorded, reported and not asked for again',
    async () => {
      const roomy = { rateLimitPerDay: 1_000_000, rateLimitPerMinute: 100_000 }
      const sandbox = await openSandbox({
        scale: 0.003,
        keys: [{ key: apiKey, kind: 'agency', agencies: 1, scopes, ...roomy }],
      })
      const warehouse = await bench.warehouse()
      const connection = { apiKey }
      const lists = ['key', 'timesheets', 'expenses', 'invoices']
      const first = await syncOnce(sandbox, warehouse, { connection, request: { resources: lists } })
      expect(first.resources.find(({ resource }) => resource === 'invoices')?.state).toBe('skipped')

      const clock = movableClock()
      const nights: (string | undefined)[] = []
      const running = await served(warehouse, {
        ...connection,
        baseUrl: sandbox.url,
        clock,
        intervals: patient,
        schedule: [{ name: 'nightly', schedule: '* * * * *' }],
        runDag: async name => {
          const resources = [...lists, 'assignments', 'credit-notes', 'purchase-orders']
          const night = await syncOnce(sandbox, warehouse, {
            connection,
            request: { resources },
            effects: { clock },
          })
          nights.push(name, night.failure?.message)
          return 0
        },
      })
      const send = (id: string, type: string, data: object) =>
        post(running.url, signed(eventBody(id, type, data)))
      const assignments = ofAgencies(sandbox, 'assignments')
      const timesheets = ofAgencies(sandbox, 'timesheets')
      const note = String(sandbox.world.all('creditNotes')[0]?.id)
      const before = sandbox.requests.length
      const statuses = [
        await send('own_list', 'timesheet_approved', { timesheet: { id: timesheets.own } }),
        await send('own_record', 'assignment_ended', { assignment: { id: assignments.own } }),
        await send('other_record', 'assignment_ended', { assignment: { id: assignments.other } }),
        await send('no_scope', 'credit_note_created', { creditNote: { id: note } }),
        await send('no_list', 'invoice_paid', { invoice: { id: 'i1' } }),
        await send('no_kind', 'purchase_order_created', { purchaseOrder: { id: 'p1' } }),
        await send('no_type', 'worker_vanished', {}),
        await post(running.url, signed(eventBody('forged'), { secret: 'somebody else' })),
      ]
      expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 202, 401])
      await settled(warehouse, running, 7)
      const once = asked(sandbox.requests.slice(before))
      expect(once).toEqual({
        '/timesheets': expect.any(Number),
        [`/assignments/${assignments.own}`]: 1,
        [`/assignments/${assignments.other}`]: 1,
        [`/credit-notes/${note}`]: 1,
      })
      const facts = await warehouse.engine.rows<{ id: string; result: string | null }>(
        'select event_id as id, fetch_result as result from star.fact_webhook_event',
      )
      expect(Object.fromEntries(facts.map(({ id, result }) => [id, result]))).toEqual({
        own_list: 'listed',
        own_record: 'read',
        other_record: 'not found',
        no_scope: 'refused',
        no_list: 'refused',
        no_kind: 'refused',
        no_type: null,
      })
      const reasons = await warehouse.engine.rows(
        `select record_id, state, reason from ops.discovered where state in ('missing', 'refused') order by state`,
      )
      expect(reasons).toEqual([
        { record_id: assignments.other, state: 'missing', reason: expect.stringContaining('(404)') },
        { record_id: note, state: 'refused', reason: expect.stringContaining('(403)') },
      ])

      // Not at the next look, nor for more events of what no answer could be had, nor at night.
      const asKnown = sandbox.requests.length
      await send('no_list_2', 'invoice_paid', { invoice: { id: 'i2' } })
      await send('no_kind_2', 'purchase_order_created', { purchaseOrder: { id: 'p2' } })
      await settled(warehouse, running, 9)
      await wait(600)
      expect(asked(sandbox.requests.slice(asKnown))).toEqual({})
      clock.ahead += minute
      await expect.poll(() => nights, { timeout: 20_000 }).toEqual(['nightly', undefined])
      const atNight = asked(sandbox.requests.slice(asKnown))
      expect(atNight).toMatchObject({ '/timesheets': expect.any(Number), '/invoices': 1 })
      expect(Object.keys(atNight)).not.toContain(`/assignments/${assignments.other}`)
      expect(Object.keys(atNight)).not.toContain(`/credit-notes/${note}`)
      expect(Object.keys(atNight).filter(path => path.startsWith('/purchase-orders'))).toEqual([])
      await running.stop()

      await warehouse.close()
      const env = {
        MUSTER_BASE_URL: sandbox.url,
        MUSTER_API_KEY: apiKey,
        MUSTER_WAREHOUSE: warehouse.address,
        MUSTER_LANDING: warehouse.landing,
      }
      const { out } = await muster('status', { cwd: temporaryFolder(), clock, env })
      expect(out).toMatch(/^purchase-orders +skipped .* agency keys cannot read it$/m)
      expect(out).toMatch(/^assignments stored \d+ of \d+ known ids; 1: .*\(404\)$/m)
      expect(out).toMatch(/^credit-notes stored 0 of 1 known ids; 1: .*\(403\)$/m)
      expect(out).toMatch(
        /^events: 9 in 30 days, the last .*; 5 about what the key may not read; 1 about records not found; 1 of unknown types \(worker_vanished\); 1 delivery refused \(signature 1\)$/m,
      )
    },
  )
})
