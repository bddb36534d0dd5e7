/** Seeds of the simulation, as many as a quick suite has time for: every law holds in each of them. */
import { expect, test } from 'vitest'
import { simulate } from './simulated.ts'

/** A scan that is not proved under any order of equal keys loses rows, and the simulation shows it. */
const known = ['--without', 'ties'] as const

const lawful = expect.stringContaining('every law held')

test('seeds on DuckDB', async () => {
  expect(await simulate('--seeds', '1-14', ...known)).toEqual({ code: 0, out: lawful })
})

test('seeds on PostgreSQL', async () => {
  expect(await simulate('--seeds', '21-24', '--engine', 'postgres', ...known)).toEqual({
    code: 0,
    out: lawful,
  })
})

test('a seed makes the same steps whenever it is run', async () => {
  const log = async () =>
    (await simulate('--seeds', '3', '--verbose')).out.replaceAll(/-\w{6}\b|[\d.]+ s\b/g, '')
  expect(await log()).toBe(await log())
})
