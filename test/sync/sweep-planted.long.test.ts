/** What sweep-live.long.test.ts would say of a sweep that is wrong: rules of it are replaced, one at a time. */
import { expect, test, vi } from 'vitest'
import type * as Scopes from '../../src/state/evidence/key-scopes.ts'
import type * as Decision from '../../src/sync/deletions/decision.ts'
import { type Bench, describeOnEngines } from '../support/warehouse-fixture.ts'
import { proveSweeps } from './sweep-seed.ts'
import { weatherOf } from './sweep-weather.ts'

const planted = vi.hoisted(() => ({ mistake: '' }))
const onePiece = 'one piece of evidence is enough'
const anyNumber = 'any number may go at once'
const anyScope = 'the scope of the key is not looked at'

vi.mock('../../src/sync/deletions/decision.ts', async load => {
  const real = await load<typeof Decision>()
  const most = () => (planted.mistake === anyNumber ? { maxDeletions: Number.POSITIVE_INFINITY } : {})
  return {
    ...real,
    maxAtOnce: (live: number, given?: number) => most().maxDeletions ?? real.maxAtOnce(live, given),
    worthOf: (figures: Decision.SweepFigures) => real.worthOf({ ...figures, ...most() }),
    decide: (
      candidates: readonly Decision.DeletionCandidate[],
      at: Decision.DeletionContext,
    ): Decision.DeletionDecision =>
      planted.mistake === onePiece
        ? { deleted: candidates.map(candidate => ({ candidate, at: candidate.evidence[0]?.seenAt ?? '' })) }
        : real.decide(candidates, { ...at, ...most() }),
  }
})

vi.mock('../../src/state/evidence/key-scopes.ts', async load => {
  const real = await load<typeof Scopes>()
  const blind = { kind: 'company', scopes: [] } as const
  const seen = (sight: Scopes.KeySight) => (planted.mistake === anyScope ? blind : sight)
  return {
    ...real,
    scopeIdOf: (key: string, sight: Scopes.KeySight) => real.scopeIdOf(key, seen(sight)),
    recordKeyScope: (...[engine, run]: Parameters<typeof Scopes.recordKeyScope>) =>
      real.recordKeyScope(engine, { ...run, sight: seen(run.sight) }),
  }
})

/** Of the thousand, those in which a company that the key loses has no more records than may go at once. */
const ofScopes = (seed: number): boolean => {
  const { size, rates } = weatherOf(seed)
  return size.timesheets === 60 && rates.scopeChange > 0.05
}

async function isCaught(bench: Bench, seed: number): Promise<boolean> {
  try {
    await proveSweeps(bench, seed)
    return false
  } catch (error) {
    return /falseOnes/.test(String(error))
  }
}

const most = 30

describeOnEngines('a sweep of a live service tombstones rows that are there', bench => {
  test.skipIf(bench.name === 'postgres').each<[string, (seed: number) => boolean]>([
    [onePiece, () => true],
    [anyNumber, () => true],
    [anyScope, ofScopes],
  ])(
    'where %s',
    async (mistake, concerns) => {
      planted.mistake = mistake
      const seeds = Array.from({ length: 1000 }, (_, n) => n + 1).filter(concerns)
      const tried: number[] = []
      let caught = false
      for (const seed of seeds.slice(0, most)) {
        tried.push(seed)
        caught = await isCaught(bench, seed)
        if (caught) break
      }
      expect({ mistake, tried, caught }).toEqual({ mistake, tried, caught: true })
    },
    600_000,
  )
})
