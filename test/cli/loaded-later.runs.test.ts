/** Records that were in a list when it was counted, and are loaded later: no check takes them for missing. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords, timeOf } from '../sync/plain-records.ts'

const count = 200

/** More than rows_missing lets pass. */
const some = [3, 50, 51, 90, 130, 170, 171, 172]

/** After every record of the list. */
const later = (index: number): string => timeOf(count + index, { minutesApart: 1440 })

const checks = 'check rows_match_total rows_missing'

const healthOfTimesheets = `sql --json select live_rows, expected_rows, reconciliation_status as status from mart.data_health where resource = 'timesheets'`

describeOnEngines(
  'records that are loaded after their list was counted',
  bench => {
    const begin = async () => {
      const sandbox = await openSandbox({ records: plainRecords({ timesheets: count }) })
      const warehouse = await bench.warehouse()
      const { command } = await commandsOn(warehouse, sandbox)
      const done = async (line: string) => expect(await command(line)).toMatchObject({ code: 0 })
      const set = (index: number, change: object) =>
        sandbox.world.upsert('timesheets', { ...plainMakers.timesheets(index), ...change })
      const health = async () => {
        await done('build data_health --quiet')
        return JSON.parse((await command(healthOfTimesheets)).out)[0]
      }
      return { warehouse, command, done, set, health }
    }

    test('because they were in quarantine are missing until then, and no longer', async () => {
      const { command, done, set, health } = await begin()
      for (const index of some) set(index, { netHours: 'many' })
      await done('sync timesheets --quiet')
      const before = await command(checks)
      expect([before.code, before.out]).toEqual([3, expect.stringContaining('timesheets, 192 of 200')])
      expect(await health()).toEqual({ live_rows: 192, expected_rows: 200, status: 'short' })
      for (const index of some) set(index, { updatedAt: later(index) })
      // What was created meanwhile was not in the list, whether it was in quarantine or not.
      const now = new Date().toISOString()
      set(count, { createdAt: now, updatedAt: now })
      await done('sync timesheets --quiet')
      const after = await command(checks)
      expect([after.code, after.out]).toEqual([0, expect.not.stringMatching(/warn|error/)])
      expect(await health()).toEqual({ live_rows: 201, expected_rows: 201, status: 'equal' })
    }, 60_000)

    test('because they were lost here and read again are missing until then, and no longer', async () => {
      const { warehouse, command, done } = await begin()
      await done('sync timesheets --quiet')
      await warehouse.open()
      const ids = some.map(index => `'t${index}'`).join(', ')
      await warehouse.engine.run(`delete from star.fact_timesheet where timesheet_id in (${ids})`)
      await warehouse.close()
      expect((await command(checks)).code).toBe(3)
      await done('backfill timesheets --from 2025-01-01 --to 2025-01-31 --quiet')
      await done('check keys_unique list_rows_once rows_have_record references_resolve')
      const after = await command(checks)
      expect([after.code, after.out]).toEqual([0, expect.not.stringMatching(/warn|error/)])
    }, 60_000)
  },
  'all',
)
