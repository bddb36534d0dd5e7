/** Lists that vanish or close: nothing is tombstoned for it, and the run says so. */
import { expect, test } from 'vitest'
import { plainRecords } from '../sync/plain-records.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { type Nights, openNights } from './nights.ts'

const count = 19

const open = (bench: Parameters<typeof openNights>[0]) =>
  openNights(bench, { records: plainRecords({ timesheets: count, invoices: 4 }) })

const deleted = async ({ rows }: Nights, table: string): Promise<number> =>
  Number((await rows(`select count(*) as n from star.${table} where is_deleted`))[0]?.n)

describeOnEngines(
  'a short list',
  bench => {
    test('that is empty at two sweeps loses no record, unless somebody says how many', async () => {
      const nights = await open(bench)
      expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
      nights.sandbox.setQuirks({ timesheets: { empty: 'yes' } })
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextNight('sweep timesheets --quiet')
        expect([ran.code, ran.err]).toEqual([3, expect.stringMatching(/19 of 19 timesheets/)])
        expect(await deleted(nights, 'fact_timesheet')).toBe(0)
      }
      await nights.nextNight(`sweep timesheets --most ${count} --quiet`)
      await nights.nextNight(`sweep timesheets --most ${count} --quiet`)
      expect(await deleted(nights, 'fact_timesheet')).toBe(count)
      nights.sandbox.setQuirks()
      await nights.nextNight('sweep timesheets --quiet')
      await nights.nextNight('sync timesheets --quiet')
      expect(await deleted(nights, 'fact_timesheet')).toBe(0)
    })

    test.each(['sweep timesheets', 'backfill timesheets --from 2025-01-01 --to 2025-02-01'])(
      'has the records again that somebody marked as deleted by hand, after a %s',
      async line => {
        const nights = await open(bench)
        expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
        await nights.rows(
          "update star.fact_timesheet set is_deleted = true where timesheet_id in ('t3', 't7')",
        )
        expect(await deleted(nights, 'fact_timesheet')).toBe(2)
        expect((await nights.nextNight(`${line} --quiet`)).code).toBe(0)
        expect(await deleted(nights, 'fact_timesheet')).toBe(0)
      },
    )

    test.each([
      [4, 3, 3],
      [2, 1, 0],
      [3, 2, 3],
    ])('of %i that lacks %i: the sweep ends with %i', async (size, lacking, code) => {
      const nights = await openNights(bench, { records: plainRecords({ invoices: size }) })
      expect((await nights.nextNight('sync invoices --quiet')).code).toBe(0)
      for (let n = 0; n < lacking; n += 1) nights.sandbox.world.remove('invoices', `i${n}`)
      for (let night = 0; night < 2; night += 1)
        expect((await nights.nextNight('sweep invoices --quiet')).code).toBe(code)
      expect(await deleted(nights, 'fact_invoice')).toBe(code === 0 ? lacking : 0)
    })

    test.each([
      ['company', 'timesheets', 'fact_timesheet'],
      ['company', 'users', 'dim_user'],
    ] as const)(
      'that lacks all of one %s loses none of its %s, unless somebody says how many',
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
        const nights = await openNights(bench, { records })
        expect((await nights.nextNight(`sync companies ${list} --quiet`)).code).toBe(0)
        const gone = Array.from({ length: 5 }, (_, n) => `${list[0]}${4 * n}`)
        const kept = gone.map(id => nights.sandbox.world.all(list).find(one => one.id === id)!)
        for (const id of gone) nights.sandbox.world.remove(list, id)
        await nights.nextNight(`sweep ${list} --quiet`)
        const ran = await nights.nextNight(`sweep ${list} --quiet`)
        expect([ran.code, ran.err]).toEqual([
          3,
          expect.stringContaining(`all 5 ${list} of c2 are missing at once`),
        ])
        expect(await deleted(nights, table)).toBe(0)
        // Somebody says so; and one that is left makes the others a loss like any other.
        nights.sandbox.world.upsert(list, kept[0]!)
        expect((await nights.nextNight(`sweep ${list} --quiet`)).code).toBe(0)
        expect(await deleted(nights, table)).toBe(4)
      },
    )

    test.each([
      ['timesheets', 4],
      ['invoices', 3],
    ])(
      'of %s that is empty before it was read to its end is not whole, then told as empty',
      async (list, requests) => {
        const nights = await openNights(bench, { records: plainRecords({ [list]: 650 }) })
        expect((await nights.nextNight(`sync ${list} --quiet --max-requests ${requests}`)).code).toBe(75)
        const [stored] = await nights.rows(`select count(*) as n from star.fact_${list.slice(0, -1)}`)
        expect(Number(stored?.n)).toBeGreaterThan(0)
        nights.sandbox.setQuirks({ [list]: { empty: 'yes' } })
        const emptied = await nights.nextNight(`sync ${list} --quiet`)
        expect([emptied.code, emptied.err]).toEqual([1, expect.stringContaining('incomplete')])
        for (let night = 0; night < 2; night += 1) {
          expect((await nights.nextNight(`sync ${list} --quiet`)).code).toBe(0)
          expect((await nights.run('status')).out).toContain(`empty at the service: ${list}, since `)
        }
        nights.sandbox.setQuirks()
        expect((await nights.nextNight(`sync ${list} --quiet`)).code).toBe(0)
        expect(await nights.rows(`select count(*) as n from star.fact_${list.slice(0, -1)}`)).toEqual([
          { n: 650 },
        ])
      },
    )

    test('that the key may no longer read fails the run until it may again', async () => {
      const nights = await open(bench)
      expect((await nights.nextNight('sync timesheets invoices --quiet')).code).toBe(0)
      nights.sandbox.setQuirks({ timesheets: { 'forbidden-after': 0 } })
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextNight('sync timesheets invoices --quiet')
        expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/timesheets.*403/)])
        const swept = await nights.nextNight('sweep timesheets --quiet')
        expect(swept.code).toBe(1)
      }
      expect((await nights.run('status')).out).toMatch(/timesheets +failed .*may no longer read/)
      expect(await deleted(nights, 'fact_timesheet')).toBe(0)
      nights.sandbox.setQuirks()
      expect((await nights.nextNight('sync timesheets invoices --quiet')).code).toBe(0)
    })

    test('that the key never could read is skipped', async () => {
      const nights = await openNights(bench, {
        records: plainRecords({ timesheets: count, invoices: 4 }),
        quirks: { timesheets: { 'forbidden-after': 0 } },
      })
      for (let night = 0; night < 2; night += 1)
        expect((await nights.nextNight('sync timesheets invoices --quiet')).code).toBe(0)
    })
  },
  'postgres',
)
