/** Lists whose records with equal sort keys come in another order at each request. */
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { CollectionName } from '../../src/sandbox/world.ts'
import { type DailyRuns, openDailyRuns } from '../support/daily-runs.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

const seeds = thorough ? [1, 2, 3] : [1]

/** Records whose version at the service is not the stored one. */
async function missing({ sandbox, rows }: DailyRuns): Promise<string[]> {
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

/** All get one time: one tie of the complete list. */
function atOneTime(sandbox: Sandbox, collection: CollectionName, time: string): void {
  for (const record of sandbox.world.all(collection))
    sandbox.world.upsert(collection, { ...record, updatedAt: time })
}

describeOnEngines(
  'ties in any order',
  bench => {
    const open = (seed: number, timesheets: number) =>
      openDailyRuns(bench, {
        seed,
        records: plainRecords({ timesheets }),
        options: { ties: 'random' },
      })

    test.each(seeds)('a bulk update is read completely (%i)', async seed => {
      const runs = await open(seed, 900)
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      runs.sandbox.setQuirks({ timesheets: { 'bulk-update': 300 } })
      const ran = await runs.nextDay('sync timesheets --quiet')
      expect([ran.code, await missing(runs)]).toEqual([0, []])
      expect(asked(ran)).toBeLessThanOrEqual(30)
      // At rest it costs what any list does.
      await runs.nextDay('sync timesheets --quiet')
      expect(asked(await runs.nextDay('sync timesheets --quiet'))).toBeLessThanOrEqual(2)
    })

    test.each(seeds)(
      'a list with one time for all records is read completely, and so are its changes (%i)',
      async seed => {
        const runs = await open(seed, 650)
        atOneTime(runs.sandbox, 'timesheets', '2026-05-04T08:00:00.000Z')
        const first = await runs.nextDay('sync timesheets --quiet')
        expect([first.code, await missing(runs)]).toEqual([0, []])
        atOneTime(runs.sandbox, 'timesheets', '2026-10-04T08:00:00.000Z')
        const second = await runs.nextDay('sync timesheets --quiet')
        expect([second.code, await missing(runs)]).toEqual([0, []])
      },
    )

    test.runIf(thorough).each(seeds)(
      'what comes and goes does not stand in for what was missed (%i)',
      async seed => {
        const runs = await open(seed, 1_000)
        const before = new Set(runs.sandbox.world.all('timesheets').map(({ id }) => id))
        runs.sandbox.setQuirks({ timesheets: { churn: 2 } })
        const ran = await runs.nextDay('sync timesheets --quiet')
        const lost = (await missing(runs)).filter(id => before.has(id))
        expect(ran.code === 0 ? lost : []).toEqual([])
        runs.sandbox.setQuirks()
        const rest = await runs.nextDay('sync timesheets --quiet')
        expect([rest.code, await missing(runs)]).toEqual([0, []])
      },
    )

    test.runIf(thorough)('late commits are read, and backdated records once a sweep saw them', async () => {
      const runs = await open(1, 650)
      runs.sandbox.setQuirks({ timesheets: { late: 3, lateness: 600 } })
      await runs.nextDay('sync timesheets --quiet')
      await runs.run('sync timesheets --quiet')
      runs.sandbox.setQuirks()
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      expect(await missing(runs)).toEqual([])
      runs.sandbox.setQuirks({ timesheets: { backdated: 3, lateness: 40 * 86_400 } })
      await runs.nextDay('sync timesheets --quiet')
      runs.sandbox.setQuirks()
      await runs.nextDay('sync timesheets --quiet')
      expect((await missing(runs)).length).toBeGreaterThan(0)
      expect((await runs.nextDay('sweep timesheets --quiet')).code).toBe(0)
      expect((await runs.run('sync timesheets --quiet')).code).toBe(0)
      expect(await missing(runs)).toEqual([])
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
      const runs = await openDailyRuns(bench, {
        seed,
        records: { companies: companies ?? [], accessRuleMappings, companyUsers },
        options: { ties: 'random' },
      })
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sync access-rules user-assignments --quiet')
        expect([ran.code, ran.err]).toEqual([0, ''])
      }
      expect(await runs.rows("select count(*) as n from star.dim_access_rule where type = 'RBAC'")).toEqual([
        { n: 450 },
      ])
    })

    test.each(seeds)('a sweep settles and finds what was deleted (%i)', async seed => {
      const runs = await open(seed, 650)
      atOneTime(runs.sandbox, 'timesheets', '2026-05-04T08:00:00.000Z')
      expect((await runs.nextDay('sync timesheets --quiet')).code).toBe(0)
      const gone = ['t5', 't205', 't333', 't501', 't649']
      for (const id of gone) runs.sandbox.world.remove('timesheets', id)
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sweep timesheets --quiet')
        expect([ran.code, ran.err]).toEqual([0, ''])
      }
      const deleted = await runs.rows(
        'select timesheet_id as id from star.fact_timesheet where is_deleted order by 1',
      )
      expect(deleted.map(({ id }) => id)).toEqual(gone.toSorted())
    })
  },
  'duckdb',
)
