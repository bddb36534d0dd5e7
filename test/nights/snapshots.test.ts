/** Lists that are replaced as a whole by each reading. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { openNights } from './nights.ts'

describeOnEngines(
  'a snapshot',
  bench => {
    test('may lose a row: its versions are history, and no check fails', async () => {
      const accessRuleMappings = Array.from({ length: 5 }, (_, n) => ({
        ...{ id: `m${n}`, a: 'projectAdmin', can: `thing${n}.do`, type: 'RBAC' },
      }))
      const nights = await openNights(bench, { records: { accessRuleMappings } })
      expect((await nights.nextNight('sync access-rules --quiet')).code).toBe(0)
      nights.sandbox.world.remove('accessRuleMappings', 'm3')
      expect((await nights.nextNight('sync access-rules --quiet')).code).toBe(0)
      expect(await nights.rows('select access_rule_id as id from history.dim_access_rule')).toEqual([
        { id: 'm3' },
      ])
      expect((await nights.run('check')).code).toBe(0)
    })
  },
  'all',
)
