/** Days in the zone that the settings name, over both clock changes, whichever zone the warehouse was made in. */

import { expect, test } from 'vitest'
import { dayInZone, dayWritten, stageDays } from '../../src/contract/fields/day-in-zone.ts'
import { type DayRule, defaultDays } from '../../src/lib/day-rule.ts'
import { dayOf } from '../../src/marts/inputs.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { migrate } from '../../src/state/migrate.ts'
import { recounts } from '../../src/state/reporting-zone.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

const zones = ['Pacific/Auckland', 'America/New_York', 'Europe/London'] as const
/** Days of 2026 on which one of them moves its clocks. */
const changes = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-09-27', '2026-10-25', '2026-11-01']
const minuteMs = 60_000

const inThat = (zone: string): DayRule => ({ ...defaultDays, zone })

/** How services write a time without an end, and years that somebody mistyped: none is plausible. */
const farAway = ['9999-12-31T00:00:00.000Z', '9999-12-30T23:59:59.999999Z', '2300-01-01T00:00:00.000001Z']

/** From a day before to a day after each change, also beside the full hour. */
const nearChanges = changes.flatMap(day =>
  Array.from({ length: 96 }, (_, half) => {
    const ms = Date.parse(`${day}T00:00:00Z`) + (half - 32) * 30 * minuteMs
    return new Date(ms + (half % 3) - 1).toISOString()
  }),
)

const instants = [...nearChanges, ...farAway]

/** Exactly midnight UTC is a day without a time. */
const expected = (at: string, zone: string): string | null =>
  farAway.includes(at) ? null : at.endsWith('T00:00:00.000Z') ? at.slice(0, 10) : dayOf(Date.parse(at), zone)

async function inZone(warehouse: Warehouse, zone: string, work: (engine: Engine) => Promise<void>) {
  await warehouse.close()
  const { address, landing } = warehouse
  const engine = address.startsWith('duckdb:')
    ? await openDuckdb(address.slice('duckdb:'.length), { days: inThat(zone) })
    : await openPostgres({ url: address, shown: '' }, { scratch: `${landing}.zone`, days: inThat(zone) })
  try {
    await work(engine)
  } finally {
    await engine.close()
    await warehouse.open()
  }
}

const at = '2026-12-01T00:00:00.000Z'

describeOnEngines(
  'the reporting zone',
  ({ warehouse: fresh }) => {
    test('another zone in the settings counts every stored day again, in star and in history', async () => {
      const warehouse = await fresh()
      const rows = instants.map((one, place) => `('t${place}', '${one}', '${one}', date '2000-01-01', false)`)
      for (const schema of ['star', 'history'])
        await warehouse.engine.run(
          `insert into ${schema}.fact_assignment (assignment_id, confirmed_at, end_at, confirmed_date, is_deleted)
           values ${rows.join(', ')}`,
        )
      for (const zone of zones)
        await inZone(warehouse, zone, async engine => {
          expect(await migrate(engine, at)).toBe(true)
          expect(await migrate(engine, at)).toBe(false)
          // The stage, which counts the days of what is read, agrees.
          const staged = await engine.stage.rows<{ confirmed: string; ended: string }>(
            `select cast(${dayInZone('moment', stageDays)} as varchar) as confirmed,
               cast(${dayWritten('moment', stageDays)} as varchar) as ended
             from (select unnest([${instants.map(one => `timestamptz '${one}'`).join(', ')}]) as moment)`,
          )
          expect(staged.map(({ confirmed }) => confirmed)).toEqual(instants.map(one => expected(one, zone)))
          for (const schema of ['star', 'history']) {
            const found = await engine.rows(
              `select assignment_id as id, cast(confirmed_date as text) as confirmed, cast(end_date as text) as ended
               from ${schema}.fact_assignment`,
            )
            const wanted = staged.map((days, place) => ({ id: `t${place}`, ...days }))
            expect(new Set(found.map(row => JSON.stringify(row)))).toEqual(
              new Set(wanted.map(row => JSON.stringify(row))),
            )
          }
        })
    })

    test('what is synced in a zone needs no counting afterwards', async () => {
      const warehouse = await fresh()
      const { address, landing } = warehouse
      const records = JSON.parse(
        JSON.stringify(generateRecords({ seed: 1, scale: 0.01, today: '2026-11-02' })).replaceAll(
          'T00:00:00.000Z',
          'T14:37:00.000Z',
        ),
      )
      const sandbox = await keptSandbox({ records, rateLimitPerMinute: 100_000 })
      await inZone(warehouse, 'America/New_York', async engine => {
        const resources = ['key', 'timesheets', 'expenses', 'invoices']
        const inWarehouse = { engine, address, landing, close: async () => {}, open: async () => {} }
        const { failure } = await syncOnce(sandbox, inWarehouse, { request: { resources } })
        expect(failure).toBeUndefined()
        expect(await engine.rows('select zone from ops.reporting_zone')).toEqual([
          { zone: 'America/New_York' },
        ])
        const touched = []
        for (const recount of recounts(inThat('America/New_York'))) touched.push(await engine.run(recount))
        expect(touched.filter(rows => rows > 0)).toEqual([])
        const moved = []
        for (const recount of recounts(inThat('Pacific/Auckland'))) moved.push(await engine.run(recount))
        expect(moved.filter(rows => rows > 0).length).toBeGreaterThan(2)
      })
    })
  },
  'all',
)
