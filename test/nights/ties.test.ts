/** Lists whose records with equal sort keys come in another order at each request. */
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { Collection } from '../../src/sandbox/world.ts'
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

const asked = (ran: { requests: readonly string[] }) =>
  ran.requests.filter(path => path.startsWith('/timesheets')).length

/** All get one time: one tie of the whole list. */
function atOneTime(sandbox: Sandbox, collection: Collection, time: string): void {
  for (const record of sandbox.world.all(collection))
    sandbox.world.upsert(collection, { ...record, updatedAt: time })
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

    test.each(seeds)('a bulk update is read whole (%i)', async seed => {
      const nights = await open(seed, 900)
      expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
      nights.sandbox.setQuirks({ timesheets: { 'bulk-update': 300 } })
      const ran = await nights.nextNight('sync timesheets --quiet')
      expect([ran.code, await missing(nights)]).toEqual([0, []])
      expect(asked(ran)).toBeLessThanOrEqual(30)
      // At rest it costs what any list does.
      await nights.nextNight('sync timesheets --quiet')
      expect(asked(await nights.nextNight('sync timesheets --quiet'))).toBeLessThanOrEqual(2)
    })

    test.each(seeds)('a list of one tie is read whole, and so are its changes (%i)', async seed => {
      const nights = await open(seed, 650)
      atOneTime(nights.sandbox, 'timesheets', '2026-05-04T08:00:00.000Z')
      const first = await nights.nextNight('sync timesheets --quiet')
      expect([first.code, await missing(nights)]).toEqual([0, []])
      atOneTime(nights.sandbox, 'timesheets', '2026-10-04T08:00:00.000Z')
      const second = await nights.nextNight('sync timesheets --quiet')
      expect([second.code, await missing(nights)]).toEqual([0, []])
    })

    test.runIf(thorough).each(seeds)(
      'what comes and goes does not stand in for what was missed (%i)',
      async seed => {
        const nights = await open(seed, 1_000)
        const before = new Set(nights.sandbox.world.all('timesheets').map(({ id }) => id))
        nights.sandbox.setQuirks({ timesheets: { churn: 2 } })
        const ran = await nights.nextNight('sync timesheets --quiet')
        const lost = (await missing(nights)).filter(id => before.has(id))
        expect(ran.code === 0 ? lost : []).toEqual([])
        nights.sandbox.setQuirks()
        const rest = await nights.nextNight('sync timesheets --quiet')
        expect([rest.code, await missing(nights)]).toEqual([0, []])
      },
    )

    test.runIf(thorough)('late commits are read, and backdated records once a sweep saw them', async () => {
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

    test.each(seeds)('snapshots of several pages are accepted at rest (%i)', async seed => {
      const roles = ['projectAdmin', 'projectFinance', 'projectApprover']
      const accessRuleMappings = Array.from({ length: 450 }, (_, n) => ({
        id: `m${n}`,
        a: roles[n % 3],
        can: `thing${n}.do`,
        type: 'RBAC',
      }))
      const companyUsers = Array.from({ length: 450 }, (_, n) => ({
        ...{ id: `u${n}`, companyId: 'c1', name: `Name ${n % 2}`, email: `u${n}@example.com` },
        ...{ jobTitle: 'Planner', role: 'Project Admin', status: 'Active', projects: [] },
      }))
      const { companies } = plainRecords({})
      const nights = await openNights(bench, {
        seed,
        records: { companies: companies ?? [], accessRuleMappings, companyUsers },
        options: { ties: 'random' },
      })
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextNight('sync access-rules user-assignments --quiet')
        expect([ran.code, ran.err]).toEqual([0, ''])
      }
      expect(await nights.rows("select count(*) as n from star.dim_access_rule where type = 'RBAC'")).toEqual(
        [{ n: 450 }],
      )
    })

    test.each(seeds)('a sweep settles and finds what was deleted (%i)', async seed => {
      const nights = await open(seed, 650)
      atOneTime(nights.sandbox, 'timesheets', '2026-05-04T08:00:00.000Z')
      expect((await nights.nextNight('sync timesheets --quiet')).code).toBe(0)
      const gone = ['t5', 't205', 't333', 't501', 't649']
      for (const id of gone) nights.sandbox.world.remove('timesheets', id)
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextNight('sweep timesheets --quiet')
        expect([ran.code, ran.err]).toEqual([0, ''])
      }
      const deleted = await nights.rows(
        'select timesheet_id as id from star.fact_timesheet where is_deleted order by 1',
      )
      expect(deleted.map(({ id }) => id)).toEqual(gone.toSorted())
    })
  },
  'duckdb',
)
