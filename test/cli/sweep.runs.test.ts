/** `muster sweep` from the command line: counts, plan, status, exit codes, and a replay that keeps what is gone gone. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { plainRecords } from '../sync/plain-records.ts'

const sandbox = await openSandbox({ records: plainRecords({ timesheets: 230, expenses: 30 }) })
const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company }
// Runs are named for their start, so this world's clock must go.
const world = { env, clock: systemClock, cwd: temporaryFolder() }
const command = (line: string) => muster(`${line} --quiet`, world)

async function deleted(): Promise<unknown[]> {
  const engine = await openDuckdb(join(world.cwd, 'data', 'muster.duckdb'), { readOnly: true })
  try {
    return await engine.rows(
      `select 'timesheet' as what, count(*) as n from star.fact_timesheet where is_deleted union all
       select 'timelog', count(*) from star.fact_timelog where is_deleted union all
       select 'expense', count(*) from star.fact_expense where is_deleted`,
    )
  } finally {
    await engine.close()
  }
}

test.runIf(thorough)('finds, proves and keeps deletions', async () => {
  const both = 'timesheets expenses'
  expect((await command(`sync key ${both}`)).code).toBe(0)
  expect((await command('plan sweep --offline --json')).out).toContain('"command": "sweep"')
  sandbox.world.remove('timesheets', 't3')
  sandbox.world.remove('expenses', 'e3')
  const counts = await command(`sweep ${both} --counts --json`)
  const notes = JSON.parse(counts.out).resources.map(({ note }: { note: string }) => note)
  expect(notes).toEqual([
    '229 at the service, 230 stored; 1 too many: muster sweep timesheets',
    '29 at the service, 30 stored; 1 too many: muster sweep expenses',
  ])
  expect((await command('status')).out).toContain(
    'timesheets: the service counts 229, 230 are stored: muster sweep timesheets',
  )
  const asked = sandbox.requests.length
  expect((await command(`sweep ${both}`)).code).toBe(0)
  // Two pages and /me of the one; two readings, /me, a control, the candidate, /me and a count of the other; /me of the run.
  expect(sandbox.requests.length - asked).toBe(11)
  expect((await command('status')).out).toContain(
    'timesheets: 1 candidate waits for more evidence: muster sweep timesheets',
  )
  expect((await command('sweep timesheets')).code).toBe(0)
  const gone = [
    { what: 'timesheet', n: 1 },
    { what: 'timelog', n: 1 },
    { what: 'expense', n: 1 },
  ]
  expect(await deleted()).toEqual(gone)
  expect((await command('status')).out).toContain('timesheets: 1 deleted (ops.deletion)\n')
  expect((await command('replay')).code).toBe(0)
  expect(await deleted()).toEqual(gone)
})

test('ends with 3 when too much is gone, and with 2 for a name it does not know', async () => {
  expect((await command('sync key timesheets expenses')).code).toBe(0)
  for (let n = 0; n < 22; n += 1) sandbox.world.remove('timesheets', `t${100 + n}`)
  const doubted = await command('sweep timesheets')
  expect(doubted.code).toBe(3)
  expect(doubted.err).toMatch(/refusing to delete 22 of 2(29|30) timesheets at once/)
  expect(await command('sweep timesheet')).toMatchObject({ code: 2 })
  expect(await command('plan sweep matrix')).toMatchObject({ code: 2 })
})
