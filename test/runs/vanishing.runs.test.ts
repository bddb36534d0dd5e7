/** Lists that vanish or close: nothing is tombstoned for it, and the run says so. */
import { expect, test } from 'vitest'
import { type DailyRuns, openDailyRuns } from '../support/daily-runs.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

const count = 19

const open = (bench: Parameters<typeof openDailyRuns>[0]) =>
  openDailyRuns(bench, { records: plainRecords({ timesheets: count, invoices: 4 }) })

const deleted = async ({ rows }: DailyRuns, table: string): Promise<number> =>
  Number((await rows(`select count(*) as n from star.${table} where is_deleted`))[0]?.n)

describeOnEngines(
  'a short list',
  bench => {
    test('that is empty at two sweeps loses no record, unless the operator says how many', async () => {
      const runs = await open(bench)
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      runs.sandbox.setQuirks({ timesheets: { empty: 'yes' } })
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sweep timesheets --quiet')
        expect([ran.code, ran.err]).toEqual([3, expect.stringMatching(/19 of 19 timesheets/)])
        expect(await deleted(runs, 'fact_timesheet')).toBe(0)
      }
      await runs.nextDay(`sweep timesheets --max-deletions ${count} --quiet`)
      await runs.nextDay(`sweep timesheets --max-deletions ${count} --quiet`)
      expect(await deleted(runs, 'fact_timesheet')).toBe(count)
      runs.sandbox.setQuirks()
      await runs.nextDay('sweep timesheets --quiet')
      await runs.nextDay('sync timesheets --quiet')
      expect(await deleted(runs, 'fact_timesheet')).toBe(0)
    })

    test.each(['sweep timesheets', 'backfill timesheets --from 2025-01-01 --to 2025-02-01'])(
      'has records again that were marked as deleted by hand, after a %s',
      async line => {
        const runs = await open(bench)
        expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
        await runs.rows("update star.fact_timesheet set is_deleted = true where timesheet_id in ('t3', 't7')")
        expect(await deleted(runs, 'fact_timesheet')).toBe(2)
        expect((await runs.nextDay(`${line} --quiet`)).code).toBe(0)
        expect(await deleted(runs, 'fact_timesheet')).toBe(0)
      },
    )

    test.each([
      [4, 3, 3],
      [2, 1, 0],
      [3, 2, 3],
    ])('of %i with %i missing: the sweep ends with %i', async (size, missing, code) => {
      const runs = await openDailyRuns(bench, { records: plainRecords({ invoices: size }) })
      expect((await runs.nextDay('sync invoices --quiet')).code).toBe(0)
      for (let n = 0; n < missing; n += 1) runs.sandbox.world.remove('invoices', `i${n}`)
      for (let run = 0; run < 2; run += 1)
        expect((await runs.nextDay('sweep invoices --quiet')).code).toBe(code)
      expect(await deleted(runs, 'fact_invoice')).toBe(code === 0 ? missing : 0)
    })

    test.each([
      ['company', 'timesheets', 'fact_timesheet'],
      ['company', 'users', 'dim_user'],
    ] as const)(
      'without any record of one %s loses none of its %s, unless the operator says how many',
      async (_, list, table) => {
        const ofTwo = (id: string, n: number) => ({
          id,
          company: { id: n % 4 === 0 ? 'c2' : 'c1', name: 'X' },
        })
        const times = { createdAt: '2026-10-01T08:00:00.000Z', updatedAt: '2026-10-01T08:00:00.000Z' }
        const records = {
          companies: ['c1', 'c2'].map(id => ({ id, name: id, active: true, ...times })),
          timesheets: Array.from({ length: count }, (_, n) => ({ ...ofTwo(`t${n}`, n), ...times })),
          users: Array.from({ length: count }, (_, n) => ({
            ...{ id: `u${n}`, companies: [n % 4 === 0 ? 'c2' : 'c1'], projects: [], agencies: [] },
            ...times,
          })),
        }
        const runs = await openDailyRuns(bench, { records })
        expect((await runs.nextDay(`sync companies ${list} --quiet`)).code).toBe(0)
        const gone = Array.from({ length: 5 }, (_, n) => `${list[0]}${4 * n}`)
        const kept = gone.map(id => runs.sandbox.world.all(list).find(one => one.id === id)!)
        for (const id of gone) runs.sandbox.world.remove(list, id)
        await runs.nextDay(`sweep ${list} --quiet`)
        const ran = await runs.nextDay(`sweep ${list} --quiet`)
        expect([ran.code, ran.err]).toEqual([
          3,
          expect.stringContaining(`refusing to delete all 5 ${list} of c2 at once`),
        ])
        expect(await deleted(runs, table)).toBe(0)
        // With one of them back, the others are a loss like any other.
        runs.sandbox.world.upsert(list, kept[0]!)
        expect((await runs.nextDay(`sweep ${list} --quiet`)).code).toBe(0)
        expect(await deleted(runs, table)).toBe(4)
      },
    )

    test.each([
      ['timesheets', 4],
      ['invoices', 3],
    ])(
      'of %s that is empty before it was read to its end is incomplete, then reported as empty',
      async (list, requests) => {
        const runs = await openDailyRuns(bench, { records: plainRecords({ [list]: 650 }) })
        expect((await runs.nextDay(`sync ${list} --quiet --max-requests ${requests}`)).code).toBe(75)
        const [stored] = await runs.rows(`select count(*) as n from star.fact_${list.slice(0, -1)}`)
        expect(Number(stored?.n)).toBeGreaterThan(0)
        runs.sandbox.setQuirks({ [list]: { empty: 'yes' } })
        const emptied = await runs.nextDay(`sync ${list} --quiet`)
        expect([emptied.code, emptied.err]).toEqual([1, expect.stringContaining('incomplete')])
        for (let run = 0; run < 2; run += 1) {
          expect((await runs.nextDay(`sync ${list} --quiet`)).code).toBe(0)
          expect((await runs.run('status')).out).toContain(`empty at the service: ${list}, since `)
        }
        runs.sandbox.setQuirks()
        expect((await runs.nextDay(`sync ${list} --quiet`)).code).toBe(0)
        expect(await runs.rows(`select count(*) as n from star.fact_${list.slice(0, -1)}`)).toEqual([
          { n: 650 },
        ])
      },
    )

    test('that the key may no longer read fails the run until it may again', async () => {
      const runs = await open(bench)
      expect((await runs.nextDay('sync timesheets invoices --quiet')).code).toBe(0)
      runs.sandbox.setQuirks({ timesheets: { 'forbidden-after': 0 } })
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sync timesheets invoices --quiet')
        expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/timesheets.*403/)])
        const swept = await runs.nextDay('sweep timesheets --quiet')
        expect(swept.code).toBe(1)
      }
      expect((await runs.run('status')).out).toMatch(/timesheets +failed .*may no longer read/)
      expect(await deleted(runs, 'fact_timesheet')).toBe(0)
      runs.sandbox.setQuirks()
      expect((await runs.nextDay('sync timesheets invoices --quiet')).code).toBe(0)
    })

    test('that the key never could read is skipped', async () => {
      const runs = await openDailyRuns(bench, {
        records: plainRecords({ timesheets: count, invoices: 4 }),
        quirks: { timesheets: { 'forbidden-after': 0 } },
      })
      for (let run = 0; run < 2; run += 1)
        expect((await runs.nextDay('sync timesheets invoices --quiet')).code).toBe(0)
    })
  },
  'postgres',
)
