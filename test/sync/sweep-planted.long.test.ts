/** What sweep-live.long.test.ts would say of a sweep that is wrong: rules of it are replaced, one at a time. */
import { expect, test, vi } from 'vitest'
import type * as Verdict from '../../src/sync/deletion-verdict.ts'
import type * as Page from '../../src/sync/swept-page.ts'
import type * as Scopes from '../../src/warehouse/ledger/key-scopes.ts'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { proveSweeps } from './sweep-seed.ts'

const planted = vi.hoisted(() => ({ mistake: '' }))
const { oneWitness, anyNumber, anyScope, anything } = {
  oneWitness: 'one witness is enough',
  anyNumber: 'any number may go at once',
  anyScope: 'the scope of the key is not looked at',
  anything: 'ids are not compared with totals',
}

vi.mock('../../src/sync/deletion-verdict.ts', async load => {
  const real = await load<typeof Verdict>()
  const most = () => (planted.mistake === anyNumber ? { most: Number.POSITIVE_INFINITY } : {})
  return {
    ...real,
    mostAtOnce: (live: number, given?: number) => most().most ?? real.mostAtOnce(live, given),
    worthOf: (figures: Verdict.SweepFigures) => real.worthOf({ ...figures, ...most() }),
    decide: (suspects: readonly Verdict.Suspect[], at: Verdict.Circumstances): Verdict.Verdict =>
      planted.mistake === oneWitness
        ? { gone: suspects.map(suspect => ({ suspect, at: suspect.words[0]?.seenAt ?? '' })) }
        : real.decide(suspects, { ...at, ...most() }),
  }
})

vi.mock('../../src/sync/swept-page.ts', async load => {
  const real = await load<typeof Page>()
  const isBlind = () => planted.mistake === anything
  return {
    ...real,
    isSwept: (walk: Page.SweptWalk) => isBlind() || real.isSwept(walk),
    agrees: (at: Parameters<typeof Page.agrees>[0], rows: number) => isBlind() || real.agrees(at, rows),
  }
})

vi.mock('../../src/warehouse/ledger/key-scopes.ts', async load => {
  const real = await load<typeof Scopes>()
  const blind = { kind: 'company', scopes: [] } as const
  const seen = (sight: Scopes.Sight) => (planted.mistake === anyScope ? blind : sight)
  return {
    ...real,
    scopeIdOf: (key: string, sight: Scopes.Sight) => real.scopeIdOf(key, seen(sight)),
    recordKeyScope: (...[engine, run]: Parameters<typeof Scopes.recordKeyScope>) =>
      real.recordKeyScope(engine, { ...run, sight: seen(run.sight) }),
  }
})

const seeds = 60

describeOnEngines('a sweep of a live service tombstones rows that are there', ({ name, warehouse }) => {
  test.skipIf(name === 'postgres').each([oneWitness, anyNumber, anyScope, anything])(
    'where %s',
    async mistake => {
      planted.mistake = mistake
      let caught: number | undefined
      for (let seed = 1; seed <= seeds && caught === undefined; seed += 1)
        await proveSweeps({ name, warehouse }, seed).catch(error => {
          if (/falseOnes/.test(String(error))) caught = seed
        })
      console.info(`${mistake}: seed ${caught}`)
      expect(caught).toBeDefined()
    },
    600_000,
  )
})
