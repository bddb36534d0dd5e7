/** Seeds of the simulation, as many as a quick suite has time for: every law holds in each of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { planted } from './planted.ts'
import { simulate } from './simulated.ts'

const lawful = { code: 0, out: expect.stringContaining('every law held') }

/** Longer than a machine takes that does much else. */
const longestMs = 600_000

/** One that reads records by id, of which events tell, and one that is killed twice among changes and faults. */
test('seeds on both engines', { timeout: longestMs }, async () => {
  expect(await simulate('--seeds', '110,1099', '--engine', 'both', '--workers', '1')).toEqual(lawful)
})

test.each(Object.entries(planted))('%s: the source that is replaced is there', (_name, { file, find }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
})
