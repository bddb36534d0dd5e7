/** A list that the service does not show whole: every command says so, until it does. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { incompleteResources } from '../../src/state/scans/completeness.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { thorough } from '../support/long-suite.ts'
import { type Bench, describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainRecords } from '../sync/plain-records.ts'

const torn = { timesheets: { 'cut-pages': 150 } } as const

const dag = `name: small
description: What goes on after a sync that left a list incomplete.
schedule: 30 2 * * *
tasks:
  sync: { run: sync, args: [timesheets, --quiet] }
  build: { run: build, args: [data_health, --quiet], after: [sync] }
  publish: { run: publish, args: [--require, complete], needs: [build] }
`

/** Commands on a warehouse of the engine, against a small sandbox. */
async function openDesk(bench: Bench) {
  const sandbox = await openSandbox({ records: plainRecords({ timesheets: 450, invoices: 30 }), quirks: {} })
  const warehouse = await bench.warehouse()
  const { command, cwd } = await commandsOn(warehouse, sandbox)
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'dags', 'small.yaml'), dag)
  const json = async (line: string) => JSON.parse((await command(`${line} --json`)).out)
  return { sandbox, command, json, file: warehouse.address.replace(/^duckdb:/, '') }
}

describeOnEngines(
  'an incomplete list',
  bench => {
    test('is named by every command, refused by publish --require complete, and complete after the next sync', async () => {
      const { sandbox, command, json, file } = await openDesk(bench)
      sandbox.setQuirks(torn)
      const sync = await command('sync key timesheets invoices --quiet')
      expect(sync.code).toBe(1)
      expect(sync.err).toMatch(
        /^muster: timesheets \(saw \d+ of 450\) incomplete: .*run muster sync again.*\n$/,
      )
      expect(sync.out).toMatch(/^timesheets +incomplete /m)
      expect(sync.out).not.toMatch(/^incomplete: .*invoices/m)
      const reason = /never read completely, a window was refused: saw \d+ of 450/
      expect(sync.out).toMatch(new RegExp(`^incomplete: timesheets: ${reason.source}$`, 'm'))

      expect((await command('status')).out).toMatch(
        new RegExp(`^incomplete: timesheets: ${reason.source}$`, 'm'),
      )
      const status = await json('status')
      expect(status.incomplete).toEqual([
        {
          resource: 'timesheets',
          reason: expect.stringMatching(reason),
          seen: expect.any(Number),
          expected: 450,
        },
      ])
      expect(status.summary).toContain('1 incomplete')
      expect((await command('status --windows')).out).toMatch(/^timesheets +backfill +refused +\d+ +450 /m)
      expect((await json('runs'))[0]).toMatchObject({ command: 'sync', state: 'incomplete' })

      const check = await command('check resources_complete')
      expect([check.code, check.out]).toEqual([
        3,
        expect.stringMatching(/^error resources_complete: 1 row of star.fact_timesheet/),
      ])
      expect((await command('build data_health --quiet')).code).toBe(0)
      const health =
        'sql --json select resource, is_complete from mart.data_health where is_complete is not null order by 1'
      expect(JSON.parse((await command(health)).out)).toEqual([
        { resource: 'invoices', is_complete: true },
        { resource: 'key', is_complete: true },
        { resource: 'timesheets', is_complete: false },
      ])
      if (bench.name === 'duckdb') {
        expect((await command('publish')).out).toMatch(/^incomplete: timesheets: /m)
        const copy = await openDuckdb(file.replace(/\.duckdb$/, '.published.duckdb'), { readOnly: true })
        expect(await incompleteResources(copy)).toEqual([
          { resource: 'timesheets', reason: expect.stringMatching(reason), seen: null, expected: null },
        ])
        await copy.close()
      }
      if (thorough || bench.name === 'duckdb') {
        const night = await command('dag run small')
        expect(night.code).toBe(1)
        expect(night.out).toMatch(/^sync +failed [\s\S]*^build +done [\s\S]*^publish +failed /m)
        expect(night.err).toContain('would be incomplete: timesheets')
        expect(JSON.parse((await command(health)).out)).toContainEqual({
          resource: 'timesheets',
          is_complete: false,
        })
      }
      const refused = await command('publish --require complete')
      expect(refused.code).toBe(1)
      expect(refused.err).toMatch(
        /^muster: not published, because the copy would be incomplete: timesheets \(never.*\n$/,
      )

      sandbox.setQuirks()
      expect(await command('sync key timesheets invoices --quiet')).toMatchObject({ code: 0, err: '' })
      expect((await json('status')).incomplete).toEqual([])
      for (const line of ['check resources_complete', 'publish --require complete'])
        expect((await command(line)).code).toBe(0)
    }, 60_000)

    test('because the run ended before it came to it is named like any other, also by the run', async () => {
      const { command, json } = await openDesk(bench)
      const stopped = await command('sync timesheets user-assignments access-rules --quiet --max-requests 4')
      expect(stopped.code).toBe(75)
      // Two for the same reason share a line; what the run was not about is not in it.
      expect(stopped.out).toMatch(
        /^incomplete: access-rules, user-assignments: not reached before the last sync ended$/m,
      )
      const unread = { reason: 'not reached before the last sync ended', seen: null, expected: null }
      expect((await json('status')).incomplete).toMatchObject([
        { resource: 'access-rules', ...unread },
        { resource: 'timesheets' },
        { resource: 'user-assignments', ...unread },
      ])
      expect((await command('check resources_complete')).out).toContain('access-rules, not reached')
      const refused = await command('publish --require complete')
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('access-rules (not reached')])
      expect((await command('sync timesheets user-assignments access-rules --quiet')).code).toBe(0)
      expect((await json('status')).incomplete).toEqual([])
    }, 60_000)

    test('because the budget ended is exit 75, with how far it got', async () => {
      const { command } = await openDesk(bench)
      const stopped = await command('sync timesheets --quiet --max-requests 4')
      expect(stopped.code).toBe(75)
      expect(stopped.out).toMatch(/^incomplete: timesheets: never read completely: saw \d+ of 450$/m)
      expect((await command('check resources_complete')).code).toBe(3)
      expect((await command('sync timesheets --quiet')).code).toBe(0)
      expect((await command('check resources_complete')).code).toBe(0)
    }, 60_000)
  },
  'duckdb',
)
