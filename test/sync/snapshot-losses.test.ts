/** A snapshot that lacks more rows than can be believed: they are kept, and somebody has to say that they are deleted. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'

const rule = (number: number) => ({ id: `r${number}`, a: 'manager', can: `do:${number}`, type: 'RBAC' })
const rules = (count: number) => Array.from({ length: count }, (_, number) => rule(number))

describeOnEngines(
  'a snapshot that loses rows',
  bench => {
    test('keeps them when all of three or more, or more than half, are missing at once', async () => {
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
      /** [exit code, live rows] when the service shows these. */
      const after = async (now: readonly ReturnType<typeof rule>[], most?: number) => {
        shown = [...now]
        const { failure, resources } = await syncOnce(sandbox, warehouse, {
          request: { resources: ['access-rules'], ...(most !== undefined && { most }) },
        })
        const [row] = await warehouse.engine.rows<{ n: number }>(
          `select count(*) as n from star.dim_access_rule where access_rule_id <> '-1' and not is_deleted`,
        )
        expect(resources[0]?.state).toBe(failure ? 'incomplete' : 'done')
        return [failure?.message ?? 'done', Number(row?.n)]
      }
      const kept = (missing: number, stored: number) =>
        `access-rules (saw ${stored - missing} of ${stored}) incomplete: ${missing} of ${stored} rows are missing at once, so all are kept: compare with the application; if they are deleted, muster sync access-rules --most ${missing}`

      expect(await after(rules(12))).toEqual(['done', 12])
      expect(await after([])).toEqual([kept(12, 12), 12])
      expect(await after(rules(5))).toEqual([kept(7, 12), 12])
      // As many rows as before, and none of them the same.
      expect(await after(rules(24).slice(12))).toEqual([kept(12, 12), 12])
      expect(await after(rules(6))).toEqual(['done', 6])
      expect(await after(rules(2), 4)).toEqual(['done', 2])
      expect(await after([])).toEqual(['done', 0])
      // Of several pages, which are read twice before a row is removed.
      expect(await after(rules(450))).toEqual(['done', 450])
      expect(await after(rules(201))).toEqual([kept(249, 450), 450])
      expect(await after(rules(300))).toEqual(['done', 300])
    }, 60_000)
  },
  'postgres',
)
