/** What a crosscheck reads of the warehouse, and what it leaves there. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordCalibration } from '../../src/crosscheck/calibrate/definition-store.ts'
import { crosscheckFitted } from '../../src/crosscheck/calibrated-crosscheck.ts'
import { crosscheck } from '../../src/crosscheck/crosscheck.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { ledgerBench, scan } from '../support/ledger-bench.ts'
import { resourceOf } from '../support/rules-warehouse.ts'
import { requisition } from './fill-cases.ts'
import { sheet } from './hours-cases.ts'
import { type Service, type ServiceParts, serviceOf, type World } from './in-memory.ts'

const bench = ledgerBench({ keepsRows: true })
const at = '2026-11-02T03:00:00.000Z'
const world: World = {
  requisitions: [requisition('r1', [1, 2]), requisition('r2', [3])],
  timesheets: [sheet('t1'), sheet('t2')],
}
const effects = (asker: Service) => ({ engine: bench.engine, asker, runId: 'run-2', now: () => at })
const request = {
  groupings: [[], ['project']] as const,
  range: {},
  inForce: { definition: definitionDefaults, id: 'default' },
}

/** With the records of its lists, one by one. */
const serving = (there: World, parts: ServiceParts = {}): Service =>
  serviceOf(there, {
    list: () => there.timesheets as Record<string, unknown>[],
    read: path =>
      there.requisitions.find(one => path.endsWith(`/${(one as { id: string }).id}`)) as Record<
        string,
        unknown
      >,
    ...parts,
  })

beforeAll(async () => {
  await bench.load(resourceOf('requisitions'), world.requisitions)
  await bench.load(resourceOf('timesheets'), world.timesheets)
})

beforeEach(async () => {
  for (const table of ['watermark', 'crosscheck', 'metric_calibration', 'unread', 'discovered'])
    await bench.engine.run(`delete from ops.${table}`)
})

const watermark = () =>
  bench.insert('ops.watermark', {
    ...{ resource: 'timesheets', watermark: '2026-10-01T00:00:00.000Z', backfilled_at: at },
    ...{ run_id: 'run-1', moved_at: at },
  })

test('its rows replace those of the last crosscheck, with the run, the definition and the time', async () => {
  await crosscheck({ ...effects(serving(world)), runId: 'run-1' }, request)
  const found = await crosscheck(effects(serving(world)), request)
  expect(found).toMatchObject({ findings: [], isComplete: true, requests: 4, stopped: undefined })
  const groups = await bench.rows(
    `select run_id, definition_id, checked_at as at, count(*) as n from ops.crosscheck group by 1, 2, 3`,
  )
  expect(groups.map(({ n, ...stamp }) => [stamp, Number(n)])).toEqual([
    [{ run_id: 'run-2', definition_id: 'default', at }, 3 * 11 + 3 * 7],
  ])
  expect(found.rows).toHaveLength(3 * 11 + 3 * 7)
})

test('records that were lost here are queued for the next sync, each for its own resource', async () => {
  await watermark()
  const changed = { netHours: 41, updatedAt: '2026-06-01T00:00:00.000Z' }
  const there = {
    requisitions: [world.requisitions[0] as object, requisition('r2', [4])],
    timesheets: [sheet('t1', changed), sheet('t2')],
  }
  const { findings } = await crosscheck(effects(serving(there)), request)
  expect(findings.map(({ kind, record }) => [kind, record])).toEqual([
    ['differs', 'REQ-r2'],
    ['differs', 'TS-t1'],
  ])
  expect(await bench.rows('select resource, record_id as id, noted_at as at from ops.unread')).toEqual([
    { resource: 'timesheets', id: 't1', at },
  ])
  expect(await bench.rows('select resource, record_id as id from ops.discovered')).toEqual([
    { resource: 'requisitions', id: 'r2' },
  ])
})

test('before the first sync, the service has newer timesheets', async () => {
  const there = { ...world, timesheets: [sheet('t1', { netHours: 41, updatedAt: at }), sheet('t2')] }
  const { findings } = await crosscheck(effects(serving(there)), request)
  expect(findings.map(({ kind, record }) => [kind, record])).toEqual([['newer', 'TS-t1']])
})

describe('a calibrated crosscheck', () => {
  const said: string[] = []
  const fitted = (asker: Service, isAsked: boolean) => {
    said.length = 0
    const { inForce: _, ...rest } = request
    return crosscheckFitted({ ...effects(asker), say: line => void said.push(line) }, { ...rest, isAsked })
  }

  test('does not calibrate before a sync has read the records behind the metrics', async () => {
    await expect(fitted(serving(world), true)).rejects.toMatchObject({
      exitCode: 75,
      message: expect.stringMatching(
        /^not calibrated, .*timesheets: no sync has read it; requisitions: no sync has read it/,
      ),
    })
  })

  test('goes by the definition that a calibration recorded', async () => {
    const state = { alive: [], state: 'found', scores: {} } as const
    const rules = new Map([
      ['acceptance', state],
      ['timesheetStatuses', state],
    ] as const)
    const found = { definition: definitionDefaults, rules, requests: 9, stopped: undefined }
    const { id } = await recordCalibration(bench.engine, found, { runId: 'run-1', at })
    const { checked, inForce, calibration } = await fitted(serving(world), false)
    expect([inForce.id, calibration, said]).toEqual([id, undefined, []])
    expect(new Set(checked.rows.map(row => row.definition_id))).toEqual(new Set([id]))
  })

  test('compares under the defaults, and records none, where requests end before the calibration does', async () => {
    await watermark()
    await bench.insert('ops.scan', scan('s1', { resource: 'timesheets', state: 'accepted' }))
    await bench.insert(
      'ops.scan',
      scan('s2', { resource: 'requisitions', kind: 'snapshot', state: 'accepted' }),
    )
    const { checked, inForce, calibration } = await fitted(serving(world, { limit: 0 }), false)
    expect([calibration?.stopped, checked.stopped]).toEqual(Array(2).fill('the requests are used'))
    expect(inForce.definition).toEqual(definitionDefaults)
    expect(said).toEqual(['never calibrated on records of both metrics: calibrating first'])
    expect(await bench.rows('select * from ops.metric_calibration')).toEqual([])
  })
})
