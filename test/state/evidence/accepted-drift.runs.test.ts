/** What differs from the contract is recorded, warned of, notified of, or waits until it is accepted, on both engines. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { UsageError } from '../../../src/lib/errors.ts'
import { readDrift } from '../../../src/state/evidence/accepted-drift.ts'
import { forgetTables } from '../../../src/state/existing-tables.ts'
import { commandsOn } from '../../support/command-lines.ts'
import { atEndOfTest } from '../../support/ends.ts'
import { oneList } from '../../support/one-list.ts'
import { describeOnEngines } from '../../support/warehouse-fixture.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1) + minute * 60_000).toISOString()
const sheet = (id: number, more: object = {}) =>
  JSON.stringify({ id: `t${id}`, netHours: 1, createdAt: at(id), updatedAt: at(id), ...more })

function writeSettings(cwd: string, ...more: readonly string[]): void {
  mkdirSync(join(cwd, 'config'), { recursive: true })
  const variables = { baseUrl: 'BASE_URL', apiKey: 'API_KEY', warehouse: 'WAREHOUSE', landing: 'LANDING' }
  const lines = Object.entries(variables).map(([key, name]) => `${key}: "\${MUSTER_${name}}"`)
  const file = ['connections:', '  acme:', ...[...lines, ...more].map(line => `    ${line}`), '']
  writeFileSync(join(cwd, 'config/muster.yaml'), file.join('\n'))
}

/** A webhook that keeps the messages of its notifications. */
async function webhook() {
  const messages: string[] = []
  const server = createServer(async (request, response) => {
    const { notifications } = JSON.parse(await text(request))
    messages.push(...notifications.map(({ message }: { message: string }) => message))
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEndOfTest(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return { messages, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

describeOnEngines(
  'a difference from the contract',
  bench => {
    test('is loaded under every policy if it is a new field; freeze is incomplete until it is accepted, and again for a new value', async () => {
      const service = await oneList('/timesheets', [sheet(1)])
      const { command, cwd } = await commandsOn(await bench.warehouse(), service)
      const settings = (policy: string) => writeSettings(cwd, `schemaPolicy: { timesheets: ${policy} }`)
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

    test('counts as changed when a number comes as text: warn notifies of it, freeze is incomplete', async () => {
      const { messages, url } = await webhook()
      const service = await oneList('/timesheets', [sheet(1)])
      const { command, cwd } = await commandsOn(await bench.warehouse(), service)
      const notify = `notify: { url: "${url}" }`
      writeSettings(cwd, 'schemaPolicy: { timesheets: warn }', notify)
      expect(await command('sync timesheets --quiet')).toMatchObject({ code: 0, err: '' })
      service.records = [sheet(1), sheet(2, { netHours: '7.5' })]
      const warned = await command('sync timesheets')
      expect([warned.code, warned.err]).toEqual([
        0,
        expect.stringContaining('timesheets differs from the contract: netHours; see muster drift'),
      ])
      expect(messages).toEqual(['timesheets differs from the contract: changed type of netHours'])
      expect((await command('drift')).out).toMatch(/timesheets +netHours +other form +string .* warn +waits/)
      expect((await command('status --json')).out).toMatch(/"resource": ?"timesheets"[^}]*"rows": ?2/)
      writeSettings(cwd, 'schemaPolicy: { "*": freeze }', notify)
      expect(await command('sync timesheets --quiet')).toMatchObject({ code: 3 })
      expect((await command('drift accept timesheets netHours')).out).toBe(
        'accepted: timesheets.netHours, other form\n1 difference accepted\n',
      )
      expect(await command('sync timesheets --quiet')).toMatchObject({ code: 0, err: '' })
    }, 120_000)

    test('is refused in one line where a copy has no differences', async () => {
      const { engine } = await bench.warehouse()
      await engine.run('drop table ops.accepted_drift')
      forgetTables(engine)
      await expect(readDrift(engine)).rejects.toThrow(UsageError)
    })
  },
  'all',
)
