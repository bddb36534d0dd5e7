/** The time left that a sync under a limit shows, as its user sees it, beside the time that it took. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from './captured-world.ts'

const seconds = (text: string): number => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

test.each([40, 60])('is near from a third on, at %i requests a minute', async rateLimitPerMinute => {
  const clock = systemClock
  const sandbox = await keptSandbox({ seed: 1, scale: 0.05, clock, rateLimitPerMinute })
  const shown: { at: number; left: number }[] = []
  const write = (text: string): void => {
    const [, left] = /about (\d+:\d\d(?::\d\d)?) left/.exec(text) ?? []
    if (left !== undefined) shown.push({ at: performance.now(), left: seconds(left) })
  }
  const stderr = { write, isTTY: true, columns: 100, rows: 40, on: () => {} }
  const from = performance.now()
  const { code } = await muster('sync', {
    cwd: temporaryFolder(),
    clock,
    stderr,
    env: { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'sandbox-company-key' },
  })
  await sandbox.close()
  expect(code).toBe(0)
  const took = (performance.now() - from) / 1000
  expect(took).toBeGreaterThan(50)
  const late = shown.filter(({ at }) => (at - from) / 1000 >= took / 3)
  expect(late.length).toBeGreaterThan(50)
  // Of the time that was left; towards the end, of seconds.
  const wrong = late.filter(({ at, left }) => {
    const really = took - (at - from) / 1000
    return Math.abs(left - really) > Math.max(0.3 * really, 3)
  })
  expect(wrong.length).toBeLessThan(late.length / 20)
})
