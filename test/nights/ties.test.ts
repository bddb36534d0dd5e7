/** Lists whose records with equal sort keys come in another order at each request. */
import { expect, test } from 'vitest'
import { plainRecords } from '../sync/plain-records.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { type Nights, openNights } from './nights.ts'

const seeds = thorough ? [1, 2, 3] : [1]

/** Records of which the warehouse lacks the version that the service has. */
async function missing({ sandbox, rows }: Nights): Promise<string[]> {
  const stored = await rows(
    'select timesheet_id as id, updated_at as updated from star.fact_timesheet where not is_deleted',
  )
  const known = new Map(stored.map(({ id, updated }) => [id, Date.parse(String(updated))]))
  return sandbox.world
    .all('timesheets')
    .filter(({ id, updatedAt }) => known.get(id) !== Date.parse(String(updatedAt)))
    .map(({ id }) => String(id))
}

describeOnEngines(
  'ties in any order',
  bench => {
    const open = (seed: number, timesheets: number) =>
      openNights(bench, {
        seed,
        records: plainRecords({ timesheets }),
        options: { ties: 'random' },
      })

    test.each(seeds)('what comes and goes does not stand in for what was missed (%i)', async seed => {
      const nights = await open(seed, 1_000)
      const before = new Set(nights.sandbox.world.all('timesheets').map(({ id }) => id))
      nights.sandbox.setQuirks({ timesheets: { churn: 2 } })
      const ran = await nights.nextNight('sync timesheets --quiet')
      const lost = (await missing(nights)).filter(id => before.has(id))
      expect(ran.code === 0 ? lost : []).toEqual([])
      nights.sandbox.setQuirks()
      const rest = await nights.nextNight('sync timesheets --quiet')
      expect([rest.code, await missing(nights)]).toEqual([0, []])
    })

    test('late commits are read, and backdated records once a sweep saw them', async () => {
      const nights = await open(1, 650)
      nights.sandbox.setQuirks({ timesheets: { late: 3, lateness: 600 } })
      await nights.nextNight('sync timesheets --quiet')
      await nights.run('sync timesheets --quiet')
      nights.sandbox.setQuirks()
      expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
      expect(await missing(nights)).toEqual([])
      nights.sandbox.setQuirks({ timesheets: { backdated: 3, lateness: 40 * 86_400 } })
      await nights.nextNight('sync timesheets --quiet')
      nights.sandbox.setQuirks()
      await nights.nextNight('sync timesheets --quiet')
      expect((await missing(nights)).length).toBeGreaterThan(0)
      expect((await nights.nextNight('sweep timesheets --quiet')).code).toBe(0)
      expect((await nights.run('sync timesheets --quiet')).code).toBe(0)
      expect(await missing(nights)).toEqual([])
    })
  },
  'duckdb',
)
