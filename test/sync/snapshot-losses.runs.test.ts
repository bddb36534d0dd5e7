/** A snapshot with implausibly many missing rows: they are kept until the caller confirms that they are deleted. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const rule = (number: number) => ({ id: `r${number}`, a: 'manager', can: `do:${number}`, type: 'RBAC' })
const rules = (count: number) => Array.from({ length: count }, (_, number) => rule(number))

/** A list of access rules, and what a sync does when the service shows others. */
async function openAccessRules(bench: Bench) {
  let shown: ReturnType<typeof rule>[] = []
  const sandbox = await openSandbox({
    records: { companies: [{ id: 'c1', name: 'Company 1' }] },
    intercept: ({ path, query }) => {
      if (path !== '/access-rule-mappings') return undefined
      const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
      const data = shown.slice((page - 1) * limit, page * limit)
      const meta = { page, limit, total: shown.length }
      return { status: 200, body: JSON.stringify({ success: true, data, meta }) }
    },
  })
  const warehouse = await bench.warehouse()
  return {
    /** [message, live rows] when the service shows these. */
    syncShowing: async (now: readonly ReturnType<typeof rule>[], maxDeletions?: number) => {
      shown = [...now]
      const { failure, resources } = await syncOnce(sandbox, warehouse, {
        request: { resources: ['access-rules'], ...(maxDeletions !== undefined && { maxDeletions }) },
      })
      const [row] = await warehouse.engine.rows<{ n: number }>(
        `select count(*) as n from star.dim_access_rule where access_rule_id <> '-1' and not is_deleted`,
      )
      expect(resources[0]?.state).toBe(failure ? 'incomplete' : 'done')
      return [failure?.message ?? 'done', Number(row?.n)]
    },
  }
}

const refusal = (missing: number, stored: number): string =>
  `access-rules (saw ${stored - missing} of ${stored}) incomplete: refusing to remove ${missing} of ${stored} rows at once: compare with the application; if they are deleted, muster sync access-rules --max-deletions ${missing}`

describeOnEngines(
  'a snapshot that loses rows',
  bench => {
    test('keeps them when all of three or more, or more than half, are missing at once', async () => {
      const { syncShowing } = await openAccessRules(bench)
      expect(await syncShowing(rules(12)), 'the first sync').toEqual(['done', 12])
      expect(await syncShowing([]), 'none of 12').toEqual([refusal(12, 12), 12])
      expect(await syncShowing(rules(5)), '5 of 12').toEqual([refusal(7, 12), 12])
      // As many rows as before, and none of them the same.
      expect(await syncShowing(rules(24).slice(12)), '12 others').toEqual([refusal(12, 12), 12])
      expect(await syncShowing(rules(6)), '6 of 12').toEqual(['done', 6])
      expect(await syncShowing(rules(2), 4), '2 of 6, with the deletions confirmed').toEqual(['done', 2])
      expect(await syncShowing([]), 'none of 2').toEqual(['done', 0])
      // Of several pages, which are read twice before a row is removed.
      expect(await syncShowing(rules(450)), '450 rows').toEqual(['done', 450])
      expect(await syncShowing(rules(201)), '201 of 450').toEqual([refusal(249, 450), 450])
      expect(await syncShowing(rules(300)), '300 of 450').toEqual(['done', 300])
    }, 60_000)
  },
  'postgres',
)
