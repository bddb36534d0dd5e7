/** A field that the service adds: recorded, warned of, or waiting until it is accepted, on both engines. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UsageError } from '../../../src/lib/errors.ts'
import { readDrift } from '../../../src/state/evidence/accepted-drift.ts'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { commandsOn } from '../../support/command-lines.ts'
import { oneList } from '../../support/one-list.ts'
import { describeOnEngines } from '../../support/warehouse-fixture.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1) + minute * 60_000).toISOString()
const sheet = (id: number, more: object = {}) =>
  JSON.stringify({ id: `t${id}`, netHours: 1, createdAt: at(id), updatedAt: at(id), ...more })

describeOnEngines(
  'a field that the service adds',
  bench => {
    test('is loaded under every policy; freeze is incomplete until it is accepted, and again for a new value', async () => {
      const service = await oneList('/timesheets', [sheet(1)])
      const { command, cwd } = await commandsOn(await bench.warehouse(), service)
      const settings = (policy: string) => {
        mkdirSync(join(cwd, 'config'), { recursive: true })
        const lines = ['BASE_URL', 'API_KEY', 'WAREHOUSE', 'LANDING'].map(name => {
          const key = name
            .toLowerCase()
            .replace(/_(\w+)/, (_, word) => ({ url: 'Url', key: 'Key' })[word as 'url'])
          return `    ${key}: "\${MUSTER_${name}}"`
        })
        writeFileSync(
          join(cwd, 'config/muster.yaml'),
          ['connections:', '  acme:', ...lines, `    schemaPolicy: { timesheets: ${policy} }`, ''].join('\n'),
        )
      }
      const sync = () => command('sync timesheets --quiet')
      settings('freeze')
      expect(await sync()).toMatchObject({ code: 0, err: '' })
      service.records = [sheet(1), sheet(2, { payBand: 'B' })]
      const frozen = await sync()
      expect([frozen.code, frozen.err]).toEqual([
        3,
        expect.stringMatching(
          /^muster: frozen schemas differ from the contract: timesheets: every row is loaded; .*accept timesheets\n$/,
        ),
      ])
      expect(frozen.out).toContain(
        'incomplete: timesheets: differences of its frozen schema that muster drift lists: 1',
      )
      expect((await command('status --json')).out).toMatch(/"resource": ?"timesheets"[^}]*"rows": ?2/)
      expect(await command('check resources_complete')).toMatchObject({ code: 3 })
      expect((await command('drift')).out).toMatch(
        /timesheets +payBand +unknown field +string .* freeze +waits/,
      )

      settings('warn')
      const warned = await command('sync timesheets')
      expect([warned.code, warned.err]).toEqual([
        0,
        expect.stringContaining('timesheets differs from the contract: payBand; see muster drift'),
      ])
      settings('evolve')
      expect(await sync()).toMatchObject({ code: 0, err: '' })

      settings('freeze')
      expect((await sync()).code).toBe(3)
      expect(await command('drift accept timesheets payBnd')).toMatchObject({
        code: 2,
        err: expect.stringContaining('did you mean payBand?'),
      })
      expect((await command('drift accept timesheets')).out).toBe(
        'accepted: timesheets.payBand, unknown field\n1 difference accepted\n',
      )
      expect(await sync()).toMatchObject({ code: 0, err: '' })
      for (const [minute, status] of [
        [3, 'parked'],
        [4, 'towed'],
      ] as const) {
        service.records = [...service.records, sheet(minute, { status })]
        expect([status, (await sync()).code]).toEqual([status, 3])
        expect((await command('drift accept timesheets')).code).toBe(0)
        expect([status, (await sync()).code]).toEqual([status, 0])
      }
    }, 180_000)

    test('is refused in one line where a copy has no differences', async () => {
      const { engine } = await bench.warehouse()
      await engine.run('drop table ops.accepted_drift')
      forgetTables(engine)
      await expect(readDrift(engine)).rejects.toThrow(UsageError)
    })
  },
  'all',
)
