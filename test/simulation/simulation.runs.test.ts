/** Runs the few seeds of the simulation that a quick suite has time for. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { plantedFaults, widePlantedFaults } from './planted.ts'
import { simulate } from './run-simulation.ts'

const everyLawHeld = { code: 0, out: expect.stringContaining('every law held') }

/** Longer than a busy machine takes. */
const timeoutMs = 600_000

/** Seed 110 reads records by id, with events; seed 1099 is killed twice, with changes and faults. */
test('two seeds break no law on either engine', { timeout: timeoutMs }, async () => {
  expect(await simulate('--seeds', '110,1099', '--engine', 'both', '--workers', '1')).toEqual(everyLawHeld)
})

// A statement that is not a step goes on after a kill, on a connection that is closed meanwhile.
test('every statement with values is a step, when prepared and when run', {
  timeout: timeoutMs,
}, async () => {
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

test.each(Object.entries({ ...plantedFaults, ...widePlantedFaults }))(
  '%s: the source to replace exists once',
  (_name, { file, find }) => {
    expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
  },
)
