/** Seeds of the simulation, as many as a quick suite has time for: every law holds in each of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { planted, widePlanted } from './planted.ts'
import { simulate } from './simulated.ts'

const lawful = { code: 0, out: expect.stringContaining('every law held') }

/** Longer than a machine takes that does much else. */
const longestMs = 600_000

/** One that reads records by id, of which events tell, and one that is killed twice among changes and faults. */
test('seeds on both engines', { timeout: longestMs }, async () => {
  expect(await simulate('--seeds', '110,1099', '--engine', 'both', '--workers', '1')).toEqual(lawful)
})

// What is no step runs on when its process is killed, on a connection that is closed under it.
test('a statement with values is a step, prepared or kept', { timeout: longestMs }, async () => {
  const { out } = await simulate('--seeds', '110', '--workers', '1', '--verbose')
  const steps = (before: string): string[] =>
    [...out.matchAll(/Z \w+ (prepare )?(select .*\$1.*)$/gm)].flatMap(([, kind = '', sql = '']) =>
      kind === before ? [sql] : [],
    )
  const [prepared, run] = [steps('prepare '), steps('')]
  expect(prepared.length).toBeGreaterThan(10)
  expect(run.filter(sql => !prepared.includes(sql))).toEqual([])
  expect(run.length).toBeGreaterThan(2 * prepared.length)
})

test.each(Object.entries({ ...planted, ...widePlanted }))(
  '%s: the source that is replaced is there',
  (_name, { file, find }) => {
    expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
  },
)
