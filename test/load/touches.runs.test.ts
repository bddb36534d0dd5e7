/** A version of a record is its content: times of change alone touch its row, and nothing of its history. */
import { statSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { commandsOn } from '../support/command-lines.ts'
import { oneList } from '../support/one-list.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T09:00:00.000Z`
const request = { resources: ['timesheets'] }

interface Version {
  readonly hours: number
  readonly day: number
  /** Moves whatever the service may note of its own writing, at any depth. */
  readonly note: number
}

const sheet = (id: string, { hours, day: at, note }: Version, order: number): string =>
  JSON.stringify({
    id,
    status: 'pending',
    netHours: hours,
    createdAt: day(1),
    updatedAt: day(at),
    version: order,
    worker: { id: 'w1', name: 'Ada', updatedAt: day(note) },
    approvalRequestedBy: { id: 'u1', name: 'Bo', type: 'user', updatedAt: day(note) },
    timelogs: [{ id: `${id}-log`, hours: { total: hours }, updatedAt: day(note) }],
    submissionAnswers: [
      {
        ...{ fieldId: 'f1', label: 'Shirt', fieldType: 'text', value: 'L', answerScope: 'submission' },
        ...{ submissionId: 's1', updatedAt: day(note) },
        ...{ submittedBy: { id: 'u1', updatedAt: day(note) } },
      },
    ],
  })

/** The contents that the warehouse should have had, oldest first: an older time of change never wins. */
function distinctContents(versions: readonly Version[]): Version[] {
  let latest = 0
  const kept: Version[] = []
  for (const version of versions) {
    if (version.day < latest) continue
    latest = version.day
    if (kept.at(-1)?.hours !== version.hours) kept.push(version)
  }
  return kept
}

const steps = 6
const version = fc.record({
  hours: fc.integer({ min: 1, max: 2 }),
  day: fc.integer({ min: 1, max: 5 }),
  note: fc.integer({ min: 1, max: 9 }),
})
const sequence = fc.array(version, { minLength: steps, maxLength: steps })

describeOnEngines(
  'touches',
  bench => {
    test('history is the sequence of distinct contents, each valid from its first time of change, and a replay gives the same', async () => {
      const records = fc.sample(sequence, { numRuns: 40, seed: 7 })
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets')
      for (let step = 0; step < steps; step++) {
        list.records = records.map((versions, index) => sheet(`t${index}`, versions[step]!, step))
        expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
      }
      const rows = await warehouse.engine.rows<{
        id: string
        hours: string
        began: string
        ended: string | null
      }>(
        `select timesheet_id as id, net_hours as hours, valid_from as began, valid_to as ended from history.fact_timesheet
         union all select timesheet_id, net_hours, valid_from, null from star.fact_timesheet
         order by 1, 3, 4 nulls last`,
      )
      const expected = records.flatMap((versions, index) => {
        const kept = distinctContents(versions)
        return kept.map((one, place) => ({
          id: `t${index}`,
          hours: one.hours,
          began: day(one.day),
          ended: kept[place + 1] ? day(kept[place + 1]!.day) : null,
        }))
      })
      const sorted = (list: readonly object[]) => list.map(one => JSON.stringify(one)).sort()
      expect(sorted(rows.map(row => ({ ...row, hours: Number(row.hours) })))).toEqual(sorted(expected))
      expect(expected.length).toBeLessThan(40 * steps)
      const rebuilt = await bench.warehouse()
      await replay(rebuilt.engine, { root: warehouse.landing, limits: defaultLimits }, () => undefined)
      expect(await tables(rebuilt.engine)).toEqual(await tables(warehouse.engine))
    })

    test('counts records with only a new updatedAt apart, and stores it so that they are not read again', async () => {
      const warehouse = await bench.warehouse()
      const night = (at: number) =>
        Array.from({ length: 25 }, (_, index) => sheet(`t${index}`, { hours: 8, day: at, note: at }, at))
      const list = await oneList('/timesheets', night(1))
      await syncOnce(list, warehouse, { request })
      list.records = night(9)
      const { resources } = await syncOnce(list, warehouse, { request })
      expect(resources[0]).toMatchObject({ rows_inserted: 0, rows_changed: 0, records_touched: 25 })
      const [row] = await warehouse.engine.rows<{ versions: number; leaves: number }>(
        `select (select count(*) from history.fact_timesheet) as versions,
           (select count(*) from pii.attribute_leaf_history) + (select count(*) from history.attribute_leaf) as leaves,
           min(source_updated_at) as moved, min(updated_at) as shown, max(valid_from) as began
         from star.fact_timesheet`,
      )
      expect({ ...row, versions: Number(row!.versions), leaves: Number(row!.leaves) }).toEqual({
        ...{ versions: 0, leaves: 0, moved: day(9), shown: day(9), began: day(1) },
      })
      const again = await syncOnce(list, warehouse, { request })
      expect(again.resources[0]).toMatchObject({ rows_changed: 0, records_touched: 0 })
    })

    test('ten runs of touched records report "0 changed, N touched", rebuild no mart and do not grow the file', async () => {
      const warehouse = await bench.warehouse()
      const count = 400
      const night = (at: number) =>
        Array.from({ length: count }, (_, index) => sheet(`t${index}`, { hours: 8, day: at, note: at }, at))
      const list = await oneList('/timesheets', night(1))
      const { command } = await commandsOn(warehouse, list)
      expect((await command('sync timesheets --quiet')).code).toBe(0)
      expect((await command('build attendance_weekly --quiet')).out).toMatch(/^1 built, /m)
      const sizes: number[] = []
      for (let at = 2; at <= 11; at++) {
        list.records = night(at)
        const { out } = await command('sync timesheets --quiet')
        expect(out).toMatch(new RegExp(`^0 changed, ${count} touched, `, 'm'))
        if (bench.name === 'duckdb') sizes.push(statSync(warehouse.address.replace('duckdb:', '')).size)
      }
      expect((await command('build attendance_weekly --quiet')).out).toMatch(/^nothing changed: 1 marts /m)
      const runs = JSON.parse(
        (
          await command(
            'sql --json select rows_changed, records_touched from ops.run order by started_at desc',
          )
        ).out,
      ) as { rows_changed: number | string; records_touched: number | string }[]
      const [latest] = runs.filter(({ records_touched }) => Number(records_touched) > 0)
      expect(runs.filter(({ records_touched }) => Number(records_touched) === count)).toHaveLength(10)
      expect(Number(latest!.rows_changed)).toBe(0)
      // A checkpoint frees the blocks of the one before it, so that the size swings, by 13% at most in 20 runs; it does not grow.
      if (sizes.length > 0) {
        const [first, last] = [Math.max(...sizes.slice(0, 5)), sizes.slice(5)]
        expect(Math.min(...last)).toBeLessThan(1.03 * first)
        expect(Math.max(...last)).toBeLessThan(1.2 * first)
      }
    })
  },
  'all',
)
