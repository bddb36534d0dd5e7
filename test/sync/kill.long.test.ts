/** A sync killed at every request and at random moments, over lists in one window and over a backfill of several. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { type Death, type Scene, Stage } from './killed-sync.ts'
import { plainRecords } from './plain-records.ts'

const scenes: Readonly<Record<string, Scene>> = {
  'every kind of resource': {
    records: generateRecords({ seed: 6, scale: 0.1, today: '2026-11-02' }),
    resources: [],
  },
  'a backfill of several windows': {
    records: plainRecords({ timesheets: 12_000, invoices: 300 }, { minutesApart: 45 }),
    resources: ['timesheets', 'invoices'],
  },
}

const randomKills = 50

describeOnEngines('kill -9', bench => {
  for (const [name, scene] of Object.entries(scenes)) {
    test(`at every request: ${name}`, async () => {
      const stage = await Stage.open(scene)
      const { dump, requests } = await stage.undisturbed(bench)
      for (let atRequest = 1; atRequest <= requests; atRequest += 1) {
        const afterMs = atRequest % 2 === 0 ? 0 : 8
        await stage.survives(bench, [{ atRequest, afterMs }], dump)
      }
      await stage.close()
    })

    test(`${randomKills} times at random: ${name}`, async () => {
      const stage = await Stage.open(scene)
      const { dump, requests } = await stage.undisturbed(bench)
      const rng = seededRng(20_261_121)
      const draw = (): Death => ({
        atRequest: 1 + Math.floor(rng() * requests),
        afterMs: Math.floor(rng() ** 2 * 800),
      })
      let killed = 0
      while (killed < randomKills) {
        const deaths = Array.from({ length: 1 + Math.floor(rng() * 3) }, draw)
        killed += (await stage.survives(bench, deaths, dump)).killed
      }
      expect(killed).toBeGreaterThanOrEqual(randomKills)
      await stage.close()
    })
  }
})
