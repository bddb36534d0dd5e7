/** Seeds of the simulation, as many as a quick suite has time for: every law holds in each of them. */
import { expect, test } from 'vitest'
import { simulate } from './simulated.ts'

/** A scan that is not proved under any order of equal keys loses rows, and the simulation shows it. */
const known = ['--without', 'ties'] as const

const lawful = { code: 0, out: expect.stringContaining('every law held') }

/** Longer than a machine takes that does much else. */
const longestMs = 600_000

test('seeds on DuckDB', { timeout: longestMs }, async () => {
  expect(await simulate('--seeds', '1-16', '--small', ...known)).toEqual(lawful)
})

test('seeds on PostgreSQL', { timeout: longestMs }, async () => {
  expect(await simulate('--seeds', '21-24', '--small', '--engine', 'postgres', ...known)).toEqual(lawful)
})
