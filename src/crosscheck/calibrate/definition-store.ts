/** The definition in force, as the ledger keeps it: one row a rule. */

import { createHash } from 'node:crypto'
import { existingTables } from '../../state/existing-tables.ts'
import { ledger } from '../../state/ledger.ts'
import type { Engine } from '../../warehouse/engine.ts'
import {
  candidates,
  type DefinitionInForce,
  definitionDefaults,
  type MetricDefinition,
  type Rule,
} from '../definition.ts'
import { wordList } from '../metric-sql.ts'
import type { Calibration } from './calibrate.ts'

/** Numbers of the ambiguities in docs/metrics.md, and the metric that each concerns. */
const ruleFacts: Readonly<Record<Rule, readonly [number, string]>> = {
  acceptance: [1, 'timeToFill'],
  requisitionStatuses: [3, 'timeToFill'],
  days: [4, 'timeToFill'],
  quantiles: [6, 'timeToFill'],
  valueQuantiles: [7, 'timeToFill'],
  bounds: [8, 'timeToFill'],
  leastForRule: [8, 'timeToFill'],
  daysDecimals: [9, 'timeToFill'],
  hoursDecimals: [9, 'workersOverHours'],
  from: [10, 'both'],
  to: [10, 'both'],
  zone: [10, 'both'],
  weekKey: [11, 'both'],
  monthKey: [11, 'both'],
  refKey: [11, 'both'],
  weekStart: [12, 'both'],
  threshold: [14, 'workersOverHours'],
  workerWeek: [15, 'workersOverHours'],
  timesheetStatuses: [16, 'workersOverHours'],
  hoursField: [17, 'workersOverHours'],
  companies: [3, 'both'],
}

const rules = Object.keys(ruleFacts) as Rule[]

export function textOf(value: unknown): string {
  if (value === null) return ''
  return Array.isArray(value) ? wordList(value) : String(value)
}

/** Undefined for what no reading of the rule is written like: a later program may know more. */
function readingOf(rule: Rule, text: string): unknown {
  if (rule === 'companies') return text === '' ? null : text.split(',').filter(word => word !== '')
  if (rule === 'leastForRule') return Number(text)
  if (rule === 'requisitionStatuses' || rule === 'timesheetStatuses')
    return text.split(',').filter(word => word !== '')
  if (rule === 'daysDecimals' || rule === 'hoursDecimals') return text === '' ? null : Number(text)
  return candidates[rule].find(value => String(value) === text)
}

function definitionId(definition: MetricDefinition): string {
  const choices = rules.map(rule => [rule, textOf(definition[rule])])
  return createHash('sha256').update(JSON.stringify(choices)).digest('hex').slice(0, 12)
}

/** The default as long as nothing was calibrated; the published copy has it too. */
export async function readDefinition(engine: Engine): Promise<DefinitionInForce> {
  const fallback = { definition: definitionDefaults, id: 'default' }
  if (!(await existingTables(engine)).has('metric_calibration')) return fallback
  const rows = await ledger(engine).selectFrom('ops.metric_calibration').selectAll().execute()
  const [first] = rows
  if (!first) return fallback
  const known = rows
    .filter(row => rules.includes(row.rule as Rule))
    .map(row => [row.rule, readingOf(row.rule as Rule, row.chosen)] as const)
    .filter(([, value]) => value !== undefined)
  return { definition: { ...definitionDefaults, ...Object.fromEntries(known) }, id: first.definition_id }
}

/** What the calibration was run by, and when; ISO 8601. */
export interface Stamp {
  readonly runId: string
  readonly at: string
}

/** Replaces what was calibrated before. Returns the name of the definition. */
export async function recordCalibration(
  engine: Engine,
  { definition, rules: states, requests }: Calibration,
  { runId, at }: Stamp,
): Promise<string> {
  const id = definitionId(definition)
  await engine.transaction(async engine => {
    await ledger(engine).deleteFrom('ops.metric_calibration').execute()
    for (const rule of rules) {
      const state = states.get(rule)
      const [number, metric] = ruleFacts[rule]
      await ledger(engine)
        .insertInto('ops.metric_calibration')
        .values({
          ...{ rule, rule_no: number, metric, state: state?.state ?? 'untested' },
          chosen: textOf(definition[rule]),
          candidates_alive: JSON.stringify(state?.alive ?? []),
          evidence: JSON.stringify(state?.scores ?? {}),
          ...{ calls_used: requests, definition_id: id, calibrated_at: at, run_id: runId },
          contract_version: 'v1',
        })
        .execute()
    }
  })
  return id
}
