/** The time left that a sync under a limit shows, as its user sees it, beside the time that it took. */
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { dayMs } from '../../src/lib/dates.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from './captured-world.ts'

const seconds = (text: string): number => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

interface Shown {
  readonly word: string
  readonly left: number
  readonly really: number
}

/** Of a third of the sync on, in seconds. */
async function shownBy({ sandbox, cwd, clock }: { sandbox: Sandbox; cwd: string; clock: Clock }) {
  const shown: { at: number; word: string; left: number }[] = []
  const write = (text: string): void => {
    const [, word, left] = /(about|at least) (\d+:\d\d(?::\d\d)?) left/.exec(text) ?? []
    if (word !== undefined && left !== undefined)
      shown.push({ at: performance.now(), word, left: seconds(left) })
  }
  const stderr = { write, isTTY: true, columns: 100, rows: 40, on: () => {} }
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'sandbox-company-key' }
  const from = performance.now()
  const { code } = await muster('sync', { cwd, clock, stderr, env })
  expect(code).toBe(0)
  const took = (performance.now() - from) / 1000
  const seen = shown.map(({ at, ...rest }): Shown => ({ ...rest, really: took - (at - from) / 1000 }))
  return { took, late: seen.filter(({ really }) => really <= (took * 2) / 3) }
}

/** Of the time that was left; towards the end, of seconds. */
const allowed = (really: number): number => Math.max(0.3 * really, 3)

function requireNear(late: readonly Shown[]): void {
  const about = late.filter(({ word }) => word === 'about')
  const wrong = about.filter(({ left, really }) => Math.abs(left - really) > allowed(really))
  expect({
    wrong: wrong.slice(0, 20),
    of: about.length,
    isFew: wrong.length <= about.length / 20,
  }).toMatchObject({
    isFew: true,
  })
  const least = late.filter(({ word }) => word === 'at least')
  expect(least.filter(({ left, really }) => left > really + allowed(really))).toEqual([])
}

const limits = [
  [20, 0.05],
  [40, 0.05],
  [60, 0.05],
  [120, 0.4],
  [300, 1],
] as const

test.each(limits)('is near from a third on, at %i requests a minute', async (rateLimitPerMinute, scale) => {
  let offset = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset }
  const sandbox = await keptSandbox({ seed: 1, scale, clock, rateLimitPerMinute })
  const cwd = temporaryFolder()
  const first = await shownBy({ sandbox, cwd, clock })
  expect(first.took).toBeGreaterThan(50)
  const about = first.late.filter(({ word }) => word === 'about').length
  expect(about).toBeGreaterThan(50)
  // An estimate, not a least time, for the most part.
  expect(about).toBeGreaterThan(first.late.length / 2)
  requireNear(first.late)
  for (const night of [1, 2]) {
    offset += dayMs
    mutateWorld(sandbox.world, { rng: seededRng(night), nowMs: clock.now(), count: 400 })
    requireNear((await shownBy({ sandbox, cwd, clock })).late)
  }
  await sandbox.close()
})
