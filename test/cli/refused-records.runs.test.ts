/** Records that the service refuses by their ids: the run, the status, the check and the mart of health name them. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const no = '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}'
const agency = { MUSTER_API_KEY: sandboxKeys.agency }

const health = `sql --json select live_rows, expected_rows, refused_records, is_complete, reconciliation_status as status from mart.data_health where resource = 'sites'`

describeOnEngines(
  'sites that an agency key may not read by id',
  bench => {
    /** `statusOf` tells with which status a site is refused, by the number of sites that were asked for before it. */
    const begin = async (statusOf: (before: number) => number | undefined) => {
      const asked: string[] = []
      const sandbox = await openSandbox({
        scale: 0.02,
        intercept: ({ path }) => {
          if (!path.startsWith('/sites/')) return undefined
          if (!asked.includes(path)) asked.push(path)
          const status = statusOf(asked.indexOf(path))
          return status === undefined ? undefined : { status, body: no }
        },
      })
      const { command } = await commandsOn(await bench.warehouse(), sandbox)
      const run = (line: string) => command(line, agency)
      const read = async (line: string) => JSON.parse((await run(`${line} --json`)).out)
      return { asked, run, read }
    }

    test('are named by the run, the status, the check and the mart, and fail no DAG run', async () => {
      const { asked, run, read } = await begin(before => [undefined, 403, 451][before])
      const reasons = ['the key may not read this (403)', 'the key may not read this (451)']
      const sync = await run('sync key timesheets sites --quiet')
      expect(sync.code).toBe(0)
      for (const reason of reasons)
        expect(sync.out).toMatch(
          new RegExp(`^sites +done .*1 refused: ${reason.replace(/[()]/g, '\\$&')}`, 'm'),
        )
      expect(asked.length).toBeGreaterThan(2)
      const stored = asked.length - 2
      const status = await run('status')
      expect(status.out).toContain(
        `sites stored ${stored} of ${asked.length} known ids; 1: ${reasons[0]}; 1: ${reasons[1]}`,
      )
      const check = await run('check records_refused')
      expect([check.code, check.out]).toEqual([
        0,
        expect.stringMatching(/^warn records_refused: 2 rows of star.dim_site/m),
      ])
      for (const reason of reasons) expect(check.out).toContain(`sites, 1 refused: ${reason}`)
      expect((await run('build data_health --quiet')).code).toBe(0)
      expect(JSON.parse((await run(health)).out)).toEqual([
        {
          live_rows: stored,
          expected_rows: asked.length,
          refused_records: 2,
          is_complete: null,
          status: 'short',
        },
      ])
      expect((await read('status')).incomplete).toEqual([])
    }, 60_000)

    test('although it may read none are skipped, and no check speaks of them', async () => {
      const { run, read } = await begin(() => 403)
      const sync = await run('sync key timesheets sites --quiet')
      expect([sync.code, sync.out]).toEqual([
        0,
        expect.stringMatching(/^sites +skipped .*the key may not read this/m),
      ])
      expect((await run('status')).out).toContain('1 not for this key')
      const check = await run('check records_refused resources_complete')
      expect([check.code, check.out]).toEqual([0, expect.not.stringMatching(/^(warn|error)/m)])
      expect((await read('status')).incomplete).toEqual([])
    }, 60_000)
  },
  'all',
)
