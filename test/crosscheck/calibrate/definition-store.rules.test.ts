/** The definition in force, as the ledger keeps it. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Calibration } from '../../../src/crosscheck/calibrate/calibrate.ts'
import {
  calibratedDefinition,
  readDefinition,
  recordCalibration,
  textOf,
} from '../../../src/crosscheck/calibrate/definition-store.ts'
import type { RuleState } from '../../../src/crosscheck/calibrate/fit.ts'
import {
  type DefinitionRule,
  definitionDefaults,
  type MetricDefinition,
} from '../../../src/crosscheck/metrics/definition.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'

const warehouse = rulesWarehouse()
const stamp = { runId: 'run-1', at: '2026-11-02T03:00:00.000Z' }
const other: MetricDefinition = {
  ...{
    quantiles: 'type6',
    valueQuantiles: 'floorIndex',
    days: 'ceil',
    negativeDays: 'zero',
    acceptance: 'latest',
  },
  ...{
    bounds: 'exclusive',
    minForRule: 7,
    requisitionStatuses: ['filled'],
    timesheetStatuses: ['approved', 'absent'],
  },
  ...{
    companies: ['c1', 'c2'],
    zone: '+05:17',
    from: 'exclusive',
    to: 'midnight',
    hoursField: 'timelogHours',
  },
  ...{ weekStart: 'sunday', threshold: 'at', workerWeek: 'timesheet', daysDecimals: 2, hoursDecimals: 0 },
  ...{ weekKey: 'firstDay', monthKey: 'firstDay', refKey: 'name' },
}
const found = (
  definition: MetricDefinition,
  states: Partial<Record<DefinitionRule, Partial<RuleState>>> = {},
  stopped?: string,
): Calibration => ({
  ...{ definition, requests: 17, stopped },
  rules: new Map(
    Object.entries(states).map(([rule, state]) => [
      rule as DefinitionRule,
      { alive: [], state: 'found', scores: {}, ...state },
    ]),
  ),
})
const record = (...[definition, states, stopped]: Parameters<typeof found>) =>
  recordCalibration(warehouse.engine, found(definition, states, stopped), stamp)

beforeEach(() => warehouse.engine.run('delete from ops.metric_calibration'))

test('before the first calibration the defaults are in force', async () => {
  expect(await readDefinition(warehouse.engine)).toEqual({
    definition: definitionDefaults,
    id: 'default',
    isCalibrated: false,
  })
})

test('what was found is read again, with what is still possible', async () => {
  const states = {
    days: { alive: ['ceil', 'round'], state: 'indistinguishable' },
    daysDecimals: { alive: [null, 2] },
    zone: { alive: [] },
  } as const
  const recorded = await record(other, states)
  expect(recorded).toEqual({
    ...{ definition: other, id: expect.stringMatching(/^[0-9a-f]{12}$/) },
    alive: { days: ['"ceil"', '"round"'], daysDecimals: ['null', '2'] },
  })
  expect(await readDefinition(warehouse.engine)).toMatchObject({ ...recorded })
  expect(calibratedDefinition(found(other, states))).toEqual(recorded)
})

test('the defaults are read again as they are', async () => {
  await record(definitionDefaults)
  expect((await readDefinition(warehouse.engine)).definition).toEqual(definitionDefaults)
})

test('a calibration that was stopped is not recorded, and a later one replaces the last', async () => {
  expect((await record(other, {}, 'the requests are used')).definition).toEqual(other)
  expect((await readDefinition(warehouse.engine)).id).toBe('default')
  await record(other)
  await record(definitionDefaults)
  expect((await readDefinition(warehouse.engine)).definition).toEqual(definitionDefaults)
})

test('an id names the choices, and no more than these', () => {
  const id = (parts: Partial<MetricDefinition>, states = {}) =>
    calibratedDefinition(found({ ...definitionDefaults, ...parts }, states)).id
  expect(id({}, { days: { alive: ['fractional'] } })).toBe(id({}))
  expect(id({ minForRule: 2 })).not.toBe(id({}))
  expect(id({ companies: ['c1'] })).not.toBe(id({}))
})

test('each rule is recorded with its number, its metric, its evidence and the run', async () => {
  await record(definitionDefaults, {
    days: { alive: ['fractional'], scores: { '"ceil"': { agree: 1, of: 2, excess: 0 } } },
  })
  const rows = await warehouse.rows('select * from ops.metric_calibration order by rule_no, rule')
  expect(rows.find(({ rule }) => rule === 'days')).toMatchObject({
    ...{
      rule_no: 4,
      metric: 'timeToFill',
      state: 'found',
      chosen: 'fractional',
      candidates_alive: '["fractional"]',
    },
    ...{
      evidence: '{"\\"ceil\\"":{"agree":1,"of":2,"excess":0}}',
      calls_used: 17,
      run_id: 'run-1',
      contract_version: 'v1',
    },
  })
  expect(rows.find(({ rule }) => rule === 'bounds')).toMatchObject({
    state: 'untested',
    candidates_alive: '[]',
    evidence: '{}',
  })
  expect(rows.map(({ rule, rule_no, metric }) => `${rule_no} ${rule} ${metric}`)).toEqual([
    ...[
      '1 acceptance timeToFill',
      '3 companies both',
      '3 requisitionStatuses timeToFill',
      '4 days timeToFill',
    ],
    ...[
      '5 negativeDays timeToFill',
      '6 quantiles timeToFill',
      '7 valueQuantiles timeToFill',
      '8 bounds timeToFill',
    ],
    ...[
      '8 minForRule timeToFill',
      '9 daysDecimals timeToFill',
      '9 hoursDecimals workersOverHours',
      '10 from both',
    ],
    ...[
      '10 to both',
      '10 zone both',
      '11 monthKey both',
      '11 refKey both',
      '11 weekKey both',
      '12 weekStart both',
    ],
    ...[
      '14 threshold workersOverHours',
      '15 workerWeek workersOverHours',
      '16 timesheetStatuses workersOverHours',
    ],
    '17 hoursField workersOverHours',
  ])
})

describe('a calibration counts', () => {
  const decided = {
    acceptance: { state: 'found' },
    timesheetStatuses: { state: 'indistinguishable' },
  } as const
  test.each([
    ['when records of both metrics decided', decided, true],
    ['not when no acceptance did', { timesheetStatuses: decided.timesheetStatuses }, false],
    ['not when no timesheet did', { acceptance: decided.acceptance }, false],
    ['not when no timesheet fits', { ...decided, timesheetStatuses: { state: 'none fits' } }, false],
    ['when another rule is untested', { ...decided, days: { state: 'untested' } }, true],
  ] as const)('%s', async (_, states, is) => {
    await record(definitionDefaults, states)
    expect((await readDefinition(warehouse.engine)).isCalibrated).toBe(is)
  })
})

test('leaves what only a later version knows at its default', async () => {
  await record(other)
  for (const [rule, chosen] of [
    ['days', 'lunar'],
    ['zone', 'Mars/Base'],
    ['weekStart', 'noday'],
  ])
    await warehouse.engine.run(
      `update ops.metric_calibration set chosen = '${chosen}' where rule = '${rule}'`,
    )
  await warehouse.engine.run(`update ops.metric_calibration set rule = 'moonPhase' where rule = 'refKey'`)
  expect((await readDefinition(warehouse.engine)).definition).toEqual({
    ...other,
    ...{ days: 'fractional', zone: 'UTC', weekStart: 'monday', refKey: 'ref' },
  })
})

test.each([
  [null, ''],
  [2, '2'],
  ['ceil', 'ceil'],
  [['a', 'b'], ',a,b,'],
  [[], ''],
])('%j is written as "%s"', (value, text) => {
  expect(textOf(value)).toBe(text)
})
