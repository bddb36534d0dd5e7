import { beforeAll, describe, expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildResult, buildMarts } from '../../src/marts/build.ts'
import type { Check } from '../../src/marts/checks/check.ts'
import { everyCheck, martGate } from '../../src/marts/checks/gate.ts'
import { type CheckResult, failedRows, runCheck } from '../../src/marts/checks/run.ts'
import { readMarts } from '../../src/marts/mart.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt, useFilled } from '../support/filled-warehouse.ts'
import { about, checkMoment, planted, resultOf, withPlanted } from './planted.ts'

const marts = readMarts()
const checks = everyCheck(marts)
const clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }
const filled = useFilled()

const named = (name: string): Check => checks.find(check => check.name === name) as Check

let runs = 0

function build(engine: Engine, names: readonly string[] = []): Promise<BuildResult> {
  const gate = martGate(checks)
  runs += 1
  const effects = {
    engine,
    clock,
    rng: seededRng(runs),
    signal: new AbortController().signal,
    version: 'test',
  }
  return buildMarts({ ...effects, gate, onMart: () => undefined }, { marts, names, all: true })
}

/** Every check on the marts of one engine: it finds what is planted and nothing else. */
export const describeChecks = (name: Engine['kind']): unknown =>
  describe(`checks (${name})`, () => {
    let engine: Engine
    beforeAll(async () => {
      engine = (await filled[name]()).engine
      const { marts: built } = await build(engine)
      expect(built.filter(({ state }) => state !== 'built')).toEqual([])
    }, 120_000)

    test('find nothing in what the service holds', async () => {
      const found: CheckResult[] = []
      for (const check of checks) found.push(await runCheck(engine, check, checkMoment))
      expect(
        found.filter(result => failedRows(result) > 0).map(({ name: one, failures }) => [one, failures]),
      ).toEqual([])
    })

    test.each(planted(name))('$check finds what was planted', async error => {
      const { subject, rows } = error
      const result = await resultOf(engine, named(error.check), error)
      const own = result.failures.find(failure => failure.subject === subject)
      if (rows !== undefined) expect([failedRows(result), result.failures]).toEqual([rows, expect.anything()])
      if (rows === 0) return
      expect({ failures: result.failures, own }).toMatchObject({ own: { subject } })
      expect(own?.samples[0]).toMatch(/^\S/)
    })

    test('the health of the data is told for every resource there is', async () => {
      const told = await engine.rows<{ line: string }>(
        `select resource || ' ' || table_name as line from mart.data_health`,
      )
      expect(told.map(({ line }) => line).sort()).toEqual(
        catalogue.map(resource => `${resource.name} star.${resource.table.name}`).sort(),
      )
    })

    test('ids, references, dates and amounts are no personal data', async () => {
      const harmless = [
        'TS-0123456789',
        '2026-10-03',
        '20:15-06-07-08',
        'PO 123456',
        '1234567890.1234',
        'a@b',
        '6584d180',
      ]
      const statements = harmless.map(
        (text, place) => `update star.dim_site set city = '${text}' where site_id =
       (select site_id from star.dim_site where site_id <> '-1' order by site_id limit 1 offset ${place})`,
      )
      const star = about(named('personal_data_in_star'), 'star.dim_site')
      expect(
        (await withPlanted(engine, statements, engine => runCheck(engine, star, checkMoment))).failures,
      ).toEqual([])
    })

    test('a key that is personal itself is told by its hash', async () => {
      const role = about(named('personal_data_in_star'), 'star.dim_role')
      const planting = [
        `insert into star.dim_role (role_id, is_deleted) values ('jo.bloggs@example.com', false)`,
      ]
      const { failures } = await withPlanted(engine, planting, engine => runCheck(engine, role, checkMoment))
      expect(failures).toEqual([
        {
          subject: 'star.dim_role',
          rows: 1,
          samples: [expect.stringMatching(/^md5 [0-9a-f]{32}, role_id$/)],
        },
      ])
    })

    test('what a check finds in a new mart keeps the old one', async () => {
      const rows = `select count(*) as n, max(loaded_at) as at from mart.labour_spend_weekly`
      const before = await engine.rows(rows)
      if (name === 'postgres')
        await engine.run('alter table star.fact_assignment drop constraint fact_assignment_pkey cascade')
      // Of an assignment that is held twice, every timesheet counts twice.
      await engine.run(`insert into star.fact_assignment select * from star.fact_assignment`)
      const { marts: built } = await build(engine, ['labour_spend_weekly'])
      expect(built.find(mart => mart.name === 'labour_spend_weekly')).toMatchObject({
        state: 'refused',
        findings: [{ check: 'mart_labour_totals', severity: 'error', rows: 2 }],
      })
      expect(await engine.rows(rows)).toEqual(before)
    })
  })
