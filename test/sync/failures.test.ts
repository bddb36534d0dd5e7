/** What a run with several resources fails with: the code that asks for the most. */
import { expect, test } from 'vitest'
import { BudgetSpent, MusterError } from '../../src/lib/errors.ts'
import { noFigures } from '../../src/state/runs/runs.ts'
import { DeletionsHeldBack } from '../../src/sync/deletions/withheld-deletions.ts'
import { Incomplete } from '../../src/sync/run/incomplete.ts'
import { failureAmong } from '../../src/sync/run/sync.ts'
import type { ResourceResult } from '../../src/sync/run/task.ts'

const outcome = (resource: string, state: ResourceResult['state'], error?: unknown): ResourceResult => ({
  ...noFigures,
  resource,
  state,
  note: null,
  ...(error !== undefined && { error }),
})
const lacks = (resource: string, seen: number) => ({
  resource,
  seen,
  expected: 650,
  reason: 'the list did not show more in 6 passes',
})

const done = outcome('key', 'done')
const torn = outcome('timesheets', 'incomplete', new Incomplete(lacks('timesheets', 450)))
const alsoTorn = outcome('users', 'incomplete', new Incomplete(lacks('users', 1200)))
const spent = outcome('trades', 'stopped', new BudgetSpent({ what: 'the budget ends' }))
const broken = outcome('invoices', 'failed', new MusterError({ what: 'the service failed' }))
const held = outcome('sites', 'failed', new DeletionsHeldBack({ what: '3 of 4 sites are missing' }))
const skipped = outcome('projects', 'skipped', new MusterError({ what: 'the key may not read this' }))

const again =
  'everything read so far is loaded; run muster sync again, and report it to the service if it persists'
const look = 'everything the other resources read is loaded; run again, or see muster runs'
const alone = `timesheets (saw 450 of 650) incomplete: the list did not show more in 6 passes: ${again}`

test.each<[string, readonly ResourceResult[], ...([number, string] | [])]>([
  ['that is done', [done, skipped]],
  ['with a spent budget', [done, spent], 75, 'the budget ends'],
  ['with an incomplete resource', [torn, done], 1, alone],
  ['with both', [spent, torn], 1, alone],
  [
    'with two incomplete resources',
    [torn, alsoTorn],
    1,
    'timesheets (saw 450 of 650), users (saw 1,200 of 650) incomplete: everything read so far is loaded; see muster status for the reasons; muster sync reads them again',
  ],
  [
    'with a failure beside them',
    [torn, broken, spent],
    1,
    `invoices failed: the service failed; timesheets (saw 450 of 650) incomplete: ${look}`,
  ],
  ['that held deletions back', [done, held], 3, '3 of 4 sites are missing'],
  [
    'that held deletions back and is incomplete',
    [held, torn],
    1,
    `sites failed: 3 of 4 sites are missing; timesheets (saw 450 of 650) incomplete: ${look}`,
  ],
])('a run %s', (_, outcomes, ...told) => {
  const failure = failureAmong(outcomes)
  expect(failure ? [failure.exitCode, failure.message] : []).toEqual(told)
})

test('parts of one resource are one shortfall', () => {
  expect(new Incomplete(lacks('timesheets', 450), lacks('timesheets', 600)).message).toBe(
    `timesheets (saw 1,050 of 1,300) incomplete: the list did not show more in 6 passes; 1 other part likewise: ${again}`,
  )
})
