/** More records in quarantine than the settings tolerate: exit 3, named by every command, and nothing is published. */
import { expect, test } from 'vitest'
import { commandsOn } from '../support/command-lines.ts'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const at = (index: number) => new Date(Date.UTC(2026, 2, 1) + index * 60_000).toISOString()
const sheet = (index: number, netHours: unknown = 1, time = at(index)): string =>
  JSON.stringify({ id: `t${index}`, netHours, createdAt: at(index), updatedAt: time })

describeOnEngines(
  'too many records in quarantine',
  bench => {
    test('half of a list ends with 3, until it is repaired or tolerated', async () => {
      const list = await oneList(
        '/timesheets',
        Array.from({ length: 100 }, (_, index) => sheet(index, index % 2 === 0 ? 'many' : 1)),
      )
      const { command } = await commandsOn(await bench.warehouse(), list)
      const sync = 'sync timesheets --quiet'
      const first = await command(sync)
      expect([first.code, first.err]).toEqual([
        3,
        expect.stringMatching(
          /^muster: too many records could not be loaded: 50 records of timesheets in quarantine, at most 20 tolerated: .*quarantineRecords.*\n$/,
        ),
      ])
      expect(first.out).toContain('incomplete: timesheets: 50 records are in quarantine, 20 are tolerable')
      // Also when nothing of the list is read any more.
      expect((await command(sync)).code).toBe(3)
      expect((await command('status')).out).toContain('50 records are in quarantine, 20 are tolerable')
      expect((await command('check resources_complete')).code).toBe(3)
      const refused = await command('publish')
      expect([refused.code, refused.err]).toEqual([
        3,
        expect.stringContaining('the previous copy is unchanged'),
      ])
      const tolerant = { MUSTER_QUARANTINE_RECORDS: '50' }
      expect((await command(sync, tolerant)).code).toBe(0)
      expect((await command('publish', tolerant)).code).toBe(0)
      expect((await command(sync, { MUSTER_QUARANTINE_PERCENT: '50.5' })).code).toBe(0)
      expect((await command(sync)).code).toBe(3)
      // 20 of them stay, and 81 good ones come.
      const later = (index: number) => new Date(Date.UTC(2026, 2, 2) + index * 60_000).toISOString()
      list.records = [
        ...list.records.filter((_, index) => index % 2 === 1),
        ...Array.from({ length: 50 }, (_, index) => sheet(2 * index, index < 20 ? 'many' : 2, later(index))),
      ]
      expect(await command(sync)).toMatchObject({ code: 0, err: '' })
      for (const line of ['status', 'check resources_complete', 'publish'])
        expect((await command(line)).code).toBe(0)
    }, 90_000)
  },
  'postgres',
)
