/** Seeds of the simulation, as many as a quick suite has time for: every law holds in each of them. */
import { expect, test } from 'vitest'
import { simulate } from './simulated.ts'

const lawful = expect.stringContaining('every law held')

test('seeds on DuckDB', async () => {
  expect(await simulate('--seeds', '1-20')).toEqual({ code: 0, out: lawful })
})

test('seeds on PostgreSQL', async () => {
  expect(await simulate('--seeds', '21-26', '--engine', 'postgres')).toEqual({ code: 0, out: lawful })
})

test('a seed makes the same steps whenever it is run', async () => {
  const log = async () =>
    (await simulate('--seeds', '3', '--verbose')).out.replaceAll(/-\w{6}\b|[\d.]+ s\b/g, '')
  expect(await log()).toBe(await log())
})
