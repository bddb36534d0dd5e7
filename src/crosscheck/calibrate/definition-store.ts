/** Reads and records the definition in force: one row of the ledger per rule. */

import { createHash } from 'node:crypto'
import { isZone } from '../../lib/zones.ts'
import { readCalibration, replaceCalibration } from '../../state/marts/metrics.ts'
import type { MetricCalibrationRow } from '../../state/marts/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import {
  candidates,
  type DefinitionInForce,
  type DefinitionRule,
  definitionDefaults,
  type MetricDefinition,
} from '../metrics/definition.ts'
import { wordList } from '../metrics/our-metrics.ts'
import type { Calibration } from './calibrate.ts'

/** The number of each ambiguity in docs/metrics.md, and the metric it is about. */
const ruleFacts: Readonly<Record<DefinitionRule, readonly [number, string]>> = {
  acceptance: [1, 'timeToFill'],
  requisitionStatuses: [3, 'timeToFill'],
  days: [4, 'timeToFill'],
  negativeDays: [5, 'timeToFill'],
  quantiles: [6, 'timeToFill'],
  valueQuantiles: [7, 'timeToFill'],
  bounds: [8, 'timeToFill'],
  minForRule: [8, 'timeToFill'],
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

const rules = Object.keys(ruleFacts) as DefinitionRule[]

export function textOf(value: unknown): string {
  if (value === null) return ''
  return Array.isArray(value) ? wordList(value) : String(value)
}

/** Undefined for a text that is not an interpretation of the rule: a later version may know more. */
function interpretationOf(rule: DefinitionRule, text: string): unknown {
  if (rule === 'companies') return text === '' ? null : text.split(',').filter(word => word !== '')
  if (rule === 'minForRule') return Number(text)
  if (rule === 'requisitionStatuses' || rule === 'timesheetStatuses')
    return text.split(',').filter(word => word !== '')
  if (rule === 'daysDecimals' || rule === 'hoursDecimals') return text === '' ? null : Number(text)
  if (rule === 'zone') return isZone(text) ? text : undefined
  return candidates[rule].find(value => String(value) === text)
}

function definitionId(definition: MetricDefinition): string {
  const choices = rules.map(rule => [rule, textOf(definition[rule])])
  return createHash('sha256').update(JSON.stringify(choices)).digest('hex').slice(0, 12)
}

/** Decided by the answers about a metric as soon as there are any. */
const firstDecided: readonly string[] = [
  'acceptance',
  'timesheetStatuses',
] satisfies readonly DefinitionRule[]

export interface StoredDefinition extends DefinitionInForce {
  /** False before the first calibration, and after one that had no records to compare for one of the metrics. */
  readonly isCalibrated: boolean
}

/** The default before the first calibration. */
export async function readDefinition(engine: Engine): Promise<StoredDefinition> {
  const rows = await readCalibration(engine)
  const [first] = rows
  if (!first) return { definition: definitionDefaults, id: 'default', isCalibrated: false }
  const known = rows
    .filter(row => rules.includes(row.rule as DefinitionRule))
    .map(row => [row.rule, interpretationOf(row.rule as DefinitionRule, row.chosen)] as const)
    .filter(([, value]) => value !== undefined)
  return {
    definition: { ...definitionDefaults, ...Object.fromEntries(known) },
    id: first.definition_id,
    alive: Object.fromEntries(rows.flatMap(aliveOf)),
    isCalibrated: rows.every(
      ({ rule, state }) => !firstDecided.includes(rule) || !['untested', 'none fits'].includes(state),
    ),
  }
}

/** None for a rule that no request was about. */
function aliveOf(row: Pick<MetricCalibrationRow, 'rule' | 'candidates_alive'>): [string, string[]][] {
  const values = JSON.parse(row.candidates_alive) as unknown[]
  return values.length === 0 ? [] : [[row.rule, values.map(value => JSON.stringify(value))]]
}

/** The run of the calibration, and its time in ISO 8601. */
export interface Stamp {
  readonly runId: string
  readonly at: string
}

const rowsOf = (
  { definition, rules: states, requests }: Calibration,
  { runId, at }: Stamp,
): MetricCalibrationRow[] =>
  rules.map(rule => {
    const state = states.get(rule)
    const [number, metric] = ruleFacts[rule]
    return {
      ...{ rule, rule_no: number, metric, state: state?.state ?? 'untested' },
      chosen: textOf(definition[rule]),
      candidates_alive: JSON.stringify(state?.alive ?? []),
      evidence: JSON.stringify(state?.scores ?? {}),
      ...{ calls_used: requests, definition_id: definitionId(definition), calibrated_at: at, run_id: runId },
      contract_version: 'v1',
    }
  })

/** The definition that a calibration found, before it is recorded. */
export const calibratedDefinition = (found: Calibration): DefinitionInForce => ({
  definition: found.definition,
  id: definitionId(found.definition),
  alive: Object.fromEntries(rowsOf(found, { runId: '', at: '' }).flatMap(aliveOf)),
})

/** Replaces the last calibration, unless this one did not finish. Returns the definition that it found. */
export async function recordCalibration(
  engine: Engine,
  found: Calibration,
  stamp: Stamp,
): Promise<DefinitionInForce> {
  if (found.stopped === undefined) await replaceCalibration(engine, rowsOf(found, stamp))
  return calibratedDefinition(found)
}
