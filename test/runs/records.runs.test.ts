/** Records that cannot be loaded as they are: the others of their list are, and they are when the service mends them. */
import { expect, test } from 'vitest'
import { type DailyRuns, openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

const count = 650

const open = (bench: Parameters<typeof openDailyRuns>[0], quirks: object = {}) =>
  openDailyRuns(bench, { records: plainRecords({ timesheets: count }), quirks: { timesheets: quirks } })

const numberOf = async ({ rows }: DailyRuns, from: string): Promise<number> =>
  Number((await rows(`select count(*) as n from ${from}`))[0]?.n)

describeOnEngines(
  'a list',
  bench => {
    test('with any key in its records is loaded completely, and the keys are kept', async () => {
      const runs = await open(bench, {
        'odd-keys': ['empty', 'quote', 'proto', 'many', 'deep'],
        'odd-every': 200,
      })
      const ran = await runs.nextDay('sync timesheets --quiet')
      expect([ran.code, ran.err]).toEqual([0, ''])
      expect(await numberOf(runs, 'star.fact_timesheet')).toBe(count)
      // Each odd record has every one of the keys, the deepest as one leaf or many.
      const kept = await runs.rows(
        'select record_id, count(distinct path) as n from star.attribute_leaf group by record_id union all ' +
          'select record_id, count(distinct path) from pii.attribute_leaf group by record_id',
      )
      expect(kept.filter(({ n }) => Number(n) >= 10_000).length).toBeGreaterThan(0)
      const texts = ['below an empty key', 'below a key with quotes', 'the bottom', 'true']
      for (const text of texts) {
        const odd = `value_text like '%${text}%'`
        const found = await runs.rows(
          `select path from star.attribute_leaf where ${odd} union select path from pii.attribute_leaf where ${odd}`,
        )
        expect({ text, paths: found.length }).toEqual({ text, paths: 1 })
      }
    })

    test('with a few broken records is done, and with many ends with 3 and is not published', async () => {
      const runs = await open(bench, { broken: 5 })
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await numberOf(runs, 'star.fact_timesheet')).toBe(count - 5)
      const bad = await open(bench, { broken: 325 })
      const ran = await bad.nextDay('sync timesheets --quiet')
      expect([ran.code, ran.err]).toEqual([3, expect.stringMatching(/timesheets.*325|325.*timesheets/)])
      expect(await numberOf(bad, 'star.fact_timesheet')).toBe(count - 325)
      expect((await bad.run('check')).code).toBe(3)
      const published = await bad.run('publish')
      if (bench.name === 'duckdb')
        expect(published).toMatchObject({
          code: 3,
          err: expect.stringMatching(/quarantine/),
        })
    })

    test('whose records are repaired under the same updatedAt gets them without a backfill', async () => {
      const runs = await open(bench, { broken: 5 })
      await runs.nextDay('sync timesheets --quiet')
      // To look for them costs one request a day at most.
      const still = await runs.nextDay('sync timesheets --quiet')
      expect(still.requests.filter(path => path.startsWith('/timesheets')).length).toBeLessThanOrEqual(2)
      runs.sandbox.setQuirks()
      for (let run = 0; run < 6; run += 1) {
        const ran = await runs.nextDay('sync timesheets --quiet')
        expect(ran.code).toBe(0)
        expect(ran.requests.filter(path => path.startsWith('/timesheets')).length).toBeLessThanOrEqual(3)
      }
      expect(await numberOf(runs, 'star.fact_timesheet')).toBe(count)
      expect(await numberOf(runs, 'ops.quarantine where resolved_at is null')).toBe(0)
    })
  },
  'postgres',
)
