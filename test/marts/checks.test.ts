import { expect, test } from 'vitest'
import { type Check, readCheck } from '../../src/marts/checks/check.ts'
import { everyCheck } from '../../src/marts/checks/gate.ts'
import { failedRows, runCheck, withTables } from '../../src/marts/checks/run.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { useEngines } from '../support/warehouse-fixture.ts'
import { describeChecks } from './check-suite.ts'
import { checkMoment, planted } from './planted.ts'

const checks = everyCheck(readMarts())
const empty = useEngines()
const named = (name: string): Check => checks.find(check => check.name === name) as Check

test('no check is without a planted error', () => {
  const names = checks.map(({ name }) => name)
  const found = [...new Set(planted('duckdb').map(({ check }) => check))]
  const hint =
    'plant an error for each: in `planted` of test/marts/audit/marts/MART.ts, or in test/marts/planted-in-star.ts'
  expect(
    names.filter(name => !found.includes(name)),
    hint,
  ).toEqual([])
  expect(
    found.filter(name => !names.includes(name)),
    'errors planted for checks that do not exist',
  ).toEqual([])
})

test('a check reads one mart at most, so that it can stand before it', () => {
  for (const { name, parts } of checks)
    for (const { reads } of parts)
      expect([name, reads.filter(table => table.startsWith('mart.')).length <= 1]).toEqual([name, true])
})

describeChecks('duckdb')

test('find nothing in an empty warehouse, and say which of them could not be asked', async () => {
  const { engine } = await empty.duckdb()
  const found: string[] = []
  for (const check of withTables(checks, new Set()))
    if (failedRows(await runCheck(engine, check, checkMoment)) > 0) found.push(check.name)
  expect(found).toEqual([])
  await expect(runCheck(engine, named('mart_labour_totals'), checkMoment)).rejects.toThrow(
    /^the check mart_labour_totals could not run: .*labour_spend_weekly/,
  )
})

test('a resource that never was read is late from the day after it first failed', async () => {
  const { engine } = await empty.duckdb()
  const late = async (): Promise<number> =>
    failedRows(await runCheck(engine, named('read_within_26_hours'), checkMoment))
  const run = (id: string, at: string): string =>
    `insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries, records_read,
       rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
     values ('${id}', 'sync', '', 'failed', '${at}', '${at}', 0, 0, 0, 0, 0, 0, 0, 0, 'test');
     insert into ops.run_resource values ('${id}', 'sites', 'failed', 0, 0, 0, 0, 0, 0, 0, 0, null)`
  await engine.run(run('first', '2026-11-01T01:00:00Z'))
  expect(await late()).toBe(0)
  await engine.run(run('before', '2026-10-31T23:00:00Z'))
  expect(await late()).toBe(1)
  await engine.run(
    `insert into ops.run_resource values ('first', 'users', 'skipped', 0, 0, 0, 0, 0, 0, 0, 0, null)`,
  )
  expect(await late()).toBe(1)
})

test('an incomplete header is reported with its file', () => {
  const whole = '-- What holds.\n-- Severity: warn\n-- Sources: star.a\n-- Next: do it\nselect id from star.a'
  const read = (text: string) => readCheck({ name: 'check/x.sql', text })
  expect(read(whole)).toMatchObject({ name: 'x', severity: 'warn', summary: 'What holds.', next: 'do it' })
  for (const [text, message] of [
    [whole.replace('warn', 'bad'), /sql\/check\/x\.sql: its severity is bad; write error or warn/],
    [whole.replace('-- What holds.\n', ''), /does not begin with a sentence/],
    [whole.replace('-- Next: do it\n', ''), /no line "-- Next: ..."/],
    [whole.replace('from star.a', 'from star.b'), /its Sources line says star\.a; it reads star\.b/],
  ] as const)
    expect(() => read(text)).toThrow(message)
})
