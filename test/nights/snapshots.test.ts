/** Lists that are replaced as a whole by each reading. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { openNights } from './nights.ts'

const accessRuleMappings = Array.from({ length: 5 }, (_, n) => ({
  ...{ id: `m${n}`, a: 'projectAdmin', can: `thing${n}.do`, type: 'RBAC' },
}))

describeOnEngines(
  'a snapshot',
  bench => {
    test('may lose a row: its versions are history, and no check fails', async () => {
      const nights = await openNights(bench, { records: { accessRuleMappings } })
      expect((await nights.nextNight('sync access-rules --quiet')).code).toBe(0)
      nights.sandbox.world.remove('accessRuleMappings', 'm3')
      expect((await nights.nextNight('sync access-rules --quiet')).code).toBe(0)
      expect(await nights.rows('select access_rule_id as id from history.dim_access_rule')).toEqual([
        { id: 'm3' },
      ])
      expect((await nights.run('check')).code).toBe(0)
    })

    test('that is empty keeps its rows, unless somebody says how many', async () => {
      const nights = await openNights(bench, { records: { accessRuleMappings } })
      const stored = async (): Promise<unknown> =>
        (await nights.rows(`select count(*) as n from star.dim_access_rule where type = 'RBAC'`))[0]?.n
      expect((await nights.nextNight('sync access-rules --quiet')).code).toBe(0)
      nights.sandbox.setQuirks({ 'access-rules': { empty: 'yes' } })
      for (let night = 0; night < 2; night += 1) {
        const ran = await nights.nextNight('sync access-rules --quiet')
        expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/5 of 5 .*--most 5/)])
        expect(await stored()).toBe(5)
      }
      expect((await nights.nextNight('sync access-rules --most 5 --quiet')).code).toBe(0)
      expect(await stored()).toBe(0)
    })
  },
  'all',
)
