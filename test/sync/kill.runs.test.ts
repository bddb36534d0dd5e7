/** A sync killed at any moment and started again makes the warehouse that an undisturbed one makes; few kills. */
import { expect, test } from 'vitest'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { type Death, type Setting, Stage } from './killed-sync.ts'

const setting: Setting = {
  records: generateRecords({ seed: 5, scale: 0.06, today: '2026-11-02' }),
  resources: ['timesheets', 'expenses', 'user-permissions', 'metric-rows'],
}

describeOnEngines('kill -9', bench => {
  test('while pages arrive and while they load', async () => {
    const stage = await Stage.open(setting)
    try {
      const { dump, requests } = await stage.undisturbed(bench)
      expect(requests).toBeGreaterThan(7)
      const deaths: readonly Death[] = [{ atRequest: 4, afterMs: 25 }]
      expect((await stage.survives(bench, deaths, dump)).killed).toBe(1)
    } finally {
      await stage.close()
    }
  }, 90_000)
})
