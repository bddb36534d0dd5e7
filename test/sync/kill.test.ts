/** A sync killed at any moment and started again makes the warehouse that an undisturbed one makes; few kills. */
import { expect, test } from 'vitest'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { type Death, type Scene, Stage } from './killed-sync.ts'

const scene: Scene = {
  records: generateRecords({ seed: 5, scale: 0.06, today: '2026-11-02' }),
  resources: ['timesheets', 'expenses', 'user-permissions', 'metric-rows'],
}

describeOnEngines('kill -9', bench => {
  test('while pages arrive, while they load and just before the end', async () => {
    const stage = await Stage.open(scene)
    try {
      const { dump, requests } = await stage.undisturbed(bench)
      expect(requests).toBeGreaterThan(7)
      const lives: readonly (readonly Death[])[] = [
        [
          { atRequest: 4, afterMs: 0 },
          { atRequest: 3, afterMs: 0 },
        ],
        [{ atRequest: requests, afterMs: 25 }],
      ]
      let killed = 0
      for (const deaths of lives) killed += (await stage.survives(bench, deaths, dump)).killed
      expect(killed).toBeGreaterThanOrEqual(2)
    } finally {
      await stage.close()
    }
  }, 90_000)
})
