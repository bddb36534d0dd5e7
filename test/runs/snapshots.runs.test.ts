/** Lists that each reading replaces completely. */
import { expect, test } from 'vitest'
import type { Quirks } from '../fault-layer/quirk-settings.ts'
import { type DailyRuns, openDailyRuns } from '../support/daily-runs.ts'
import { inQuick } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

/** Every worker of a requisition has its row, under the one time and reference of the requisition. */
const requisitions = Array.from({ length: 30 }, (_, n) => ({
  ...{ id: `r${n}`, reference: `R-${n}`, status: 'approved', company: { id: 'c1', name: 'Company 1' } },
  ...{ createdAt: '2026-10-05T09:00:00.000Z', updatedAt: '2026-10-05T09:00:00.000Z', agencies: [] },
  startDate: '2026-11-01T00:00:00.000Z',
  stageTracking: Array.from({ length: 4 }, (_, worker) => ({
    worker: { id: `w${worker}`, name: `Worker ${worker}` },
    agency: { id: 'a1', name: 'Agency 1' },
    ...{ submittedAt: '2026-10-06T09:00:00.000Z', isRejected: false, stage: 'submitted', history: [] },
  })),
}))

const many = Array.from({ length: 80 }, (_, n) => ({
  ...requisitions[0],
  ...{ id: `r${n}`, reference: `R-${n}` },
}))

const accessRuleMappings = Array.from({ length: 5 }, (_, n) => ({
  ...{ id: `m${n}`, a: 'projectAdmin', can: `thing${n}.do`, type: 'RBAC' },
}))

const torn: readonly Partial<Quirks>[] = [
  { 'total-cap': 10, 'short-page': 2 },
  { 'total-cap': 300, 'short-page': 7 },
  { 'total-cap': 300, 'short-page': 7, 'page-cap': 50 },
  { 'short-page': 7 },
  { 'total-cap': 300 },
]

describeOnEngines(
  'a snapshot',
  bench => {
    test('may lose a row: its versions are history, and no check fails', async () => {
      const runs = await openDailyRuns(bench, { records: { accessRuleMappings } })
      expect((await runs.nextDay('sync access-rules --quiet')).code).toBe(0)
      runs.sandbox.world.remove('accessRuleMappings', 'm3')
      expect((await runs.nextDay('sync access-rules --quiet')).code).toBe(0)
      expect(await runs.rows('select access_rule_id as id from history.dim_access_rule')).toEqual([
        { id: 'm3' },
      ])
      expect((await runs.run('check')).code).toBe(0)
    })

    test('that is empty keeps its rows, unless the operator says how many', async () => {
      const runs = await openDailyRuns(bench, { records: { accessRuleMappings } })
      const stored = async (): Promise<unknown> =>
        (await runs.rows(`select count(*) as n from star.dim_access_rule where type = 'RBAC'`))[0]?.n
      expect((await runs.nextDay('sync access-rules --quiet')).code).toBe(0)
      runs.sandbox.setQuirks({ 'access-rules': { empty: 'yes' } })
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sync access-rules --quiet')
        expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/5 of 5 .*--max-deletions 5/)])
        expect(await stored()).toBe(5)
      }
      expect((await runs.nextDay('sync access-rules --max-deletions 5 --quiet')).code).toBe(0)
      expect(await stored()).toBe(0)
    })

    // The pages of a list whose total is too low end with an empty one, not with one that is short.
    test.each(inQuick(torn, 0))('with %j is complete, or incomplete', async quirks => {
      const many = Array.from({ length: 650 }, (_, n) => ({
        ...{ id: `m${n}`, a: 'projectAdmin', can: `thing${n}.do`, type: 'RBAC' },
      }))
      const runs = await openDailyRuns(bench, {
        records: { accessRuleMappings: many },
        quirks: { 'access-rules': quirks },
      })
      for (let run = 0; run < 2; run += 1) {
        const ran = await runs.nextDay('sync access-rules --quiet')
        const [row] = await runs.rows(`select count(*) as n from star.dim_access_rule where type = 'RBAC'`)
        if (ran.code === 0) expect(row?.n).toBe(650)
        else expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/access-rules \(saw \d+ of /)])
      }
    })

    test('of several pages with equal keys in any order is read completely, and a replay has it', async () => {
      const rules = Array.from({ length: 450 }, (_, n) => ({
        ...{ id: `m${n}`, a: `role${n % 3}`, can: `thing${n % 2}.do`, type: 'RBAC' },
      }))
      const companies = [{ id: 'c1', name: 'Company 1', active: true }]
      const runs = await openDailyRuns(bench, {
        records: { companies, accessRuleMappings: rules, requisitions },
        options: { ties: 'random' },
        quirks: { 'access-rules': { 'limit-cap': 60 }, 'metric-rows': { 'page-cap': 9 } },
      })
      const stored = async (): Promise<unknown> => [
        await runs.rows(`select count(*) as n from star.dim_access_rule where type = 'RBAC'`),
        await runs.rows(
          'select count(*) as n, count(distinct requisition_reference) as refs from star.fact_recruitment_metric_row',
        ),
      ]
      const complete = [[{ n: 450 }], [{ n: 120, refs: 30 }]]
      for (const command of ['sync access-rules metric-rows --quiet', 'replay --quiet']) {
        const ran = await runs.nextDay(command)
        expect([ran.code, ran.err, await stored()]).toEqual([0, '', complete])
      }
    })

    test('that hides rows after paging says how many, and does not count them as seen', async () => {
      const rules = Array.from({ length: 250 }, (_, n) => ({
        ...{ id: `m${n}`, a: `role${n % 3}`, can: `thing${n}.do`, type: 'RBAC' },
      }))
      const runs = await openDailyRuns(bench, {
        records: { accessRuleMappings: rules },
        quirks: { 'access-rules': { hidden: 20 } },
      })
      const ran = await runs.nextDay('sync access-rules')
      expect([ran.code, ran.err + ran.out]).toEqual([
        0,
        expect.stringContaining('the service counts 20 records that it shows on no page'),
      ])
      expect(await runs.rows('select distinct_ids as seen, last_total as total from ops.scan')).toEqual([
        { seen: 230, total: 250 },
      ])
      const line = 'access-rules: its total counted 20 rows that no page showed'
      expect((await runs.run('status')).out).toContain(line)
    })

    /** The first run reports hidden rows and the next does not; the requests of each for the list. */
    async function syncTwice(runs: DailyRuns, resource: string, rows: number) {
      const asked: number[] = []
      for (let run = 0; run < 2; run += 1) {
        const { code, err, out, requests } = await runs.nextDay(`sync ${resource}`)
        const note = `the service counts ${rows} records that it shows on no page`
        expect([code, err + out]).toEqual([
          0,
          run === 0 ? expect.stringContaining(note) : expect.not.stringContaining(note),
        ])
        asked.push(requests.filter(request => !request.startsWith('/me ')).length)
      }
      return asked
    }

    test.each([{ hidden: 12 }, { 'total-over': 10 }])(
      'without ids and with %j is read completely but for these rows, which are learnt once',
      async quirks => {
        const less = quirks.hidden ?? 0
        const runs = await openDailyRuns(bench, {
          records: { companies: [{ id: 'c1', name: 'Company 1', active: true }], requisitions: many },
          quirks: { 'metric-rows': quirks },
        })
        const asked = await syncTwice(runs, 'metric-rows', less + (quirks['total-over'] ?? 0))
        expect(asked).toEqual([expect.any(Number), 2])
        expect(await runs.rows('select count(*) as n from star.fact_recruitment_metric_row')).toEqual([
          { n: 320 - less },
        ])
      },
    )

    test.each([{ 'total-over': 10 }, { 'total-over': 10, 'limit-cap': 100 }, { hidden: 10 }])(
      'whose equal keys come in any order and with %j is read completely but for these rows',
      async quirks => {
        const rules = Array.from({ length: 230 }, (_, n) => ({
          ...{ id: `m${n}`, a: `role${n % 3}`, can: `thing${n % 7}.do`, type: 'RBAC' },
        }))
        const records = {
          companies: [{ id: 'c1', name: 'Company 1', active: true }],
          accessRuleMappings: rules,
          requisitions: many,
        }
        const runs = await openDailyRuns(bench, {
          records,
          options: { ties: 'random' },
          quirks: { all: quirks },
        })
        const less = quirks.hidden ?? 0
        const rows = less + (quirks['total-over'] ?? 0)
        for (const resource of ['access-rules', 'metric-rows']) await syncTwice(runs, resource, rows)
        const stored = `select (select count(*) from star.dim_access_rule where type = 'RBAC') as rules,
        (select count(*) from star.fact_recruitment_metric_row) as metric_rows`
        expect(await runs.rows(stored)).toEqual([{ rules: 230 - less, metric_rows: 320 - less }])
      },
    )
  },
  'all',
)
