/** A sync killed at every request and at random moments, over lists in one window and over a backfill of several. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { type Death, type Setting, Stage } from './killed-sync.ts'
import { plainRecords } from './plain-records.ts'

const settings: Readonly<Record<string, Setting>> = {
  'every kind of resource': {
    records: generateRecords({ seed: 6, scale: 0.1, today: '2026-11-02' }),
    resources: [],
  },
  'a backfill of several windows': {
    records: plainRecords({ timesheets: 12_000, invoices: 300 }, { minutesApart: 45 }),
    resources: ['timesheets', 'invoices'],
  },
}

/** Each part is a test of its own, so that one can be run alone: -t 'part 2 of 4: every kind'. */
const parts = 4
const randomKillsPerPart = 13

describeOnEngines('kill -9', bench => {
  for (const [name, setting] of Object.entries(settings)) {
    for (let part = 1; part <= parts; part += 1) {
      test(`at every request, part ${part} of ${parts}: ${name}`, async () => {
        const stage = await Stage.open(setting)
        const { dump, requests } = await stage.undisturbed(bench)
        let killed = 0
        let expected = 0
        for (let atRequest = part; atRequest <= requests; atRequest += parts) {
          const afterMs = Math.ceil(atRequest / parts) % 2 === 0 ? 0 : 8
          killed += (await stage.survives(bench, [{ atRequest, afterMs }], dump)).killed
          expected += 1
        }
        // The process may end by itself within the 8 ms after its last request.
        expect(killed).toBeGreaterThanOrEqual(expected - 1)
        await stage.close()
      })

      test(`at random, part ${part} of ${parts}: ${name}`, async () => {
        const stage = await Stage.open(setting)
        const { dump, requests } = await stage.undisturbed(bench)
        const rng = seededRng(20_261_121 + part)
        const draw = (): Death => ({
          atRequest: 1 + Math.floor(rng() * requests),
          afterMs: Math.floor(rng() ** 2 * 800),
        })
        let killed = 0
        while (killed < randomKillsPerPart) {
          const deaths = Array.from({ length: 1 + Math.floor(rng() * 3) }, draw)
          killed += (await stage.survives(bench, deaths, dump)).killed
        }
        await stage.close()
      })
    }
  }
})
