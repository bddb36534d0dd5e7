/** The crosscheck: reads the service's metrics, compares them with ours, explains the differences and records the result. */

import { timesheets } from '../contract/resources/timesheets.ts'
import { BudgetSpent } from '../lib/errors.ts'
import { type ReferenceCoverage, readCoverage } from '../state/by-id/coverage.ts'
import { replaceCrosscheck } from '../state/marts/metrics.ts'
import type { CrosscheckRow } from '../state/marts/tables.ts'
import { readWatermark } from '../state/scans/watermarks.ts'
import type { Engine } from '../warehouse/engine.ts'
import { AnswerSet } from './calibrate/answer-set.ts'
import { doubt } from './calibrate/definition-doubt.ts'
import { type ComparedGroup, compare } from './compare.ts'
import { differs, explain, keysOf } from './explain/explain.ts'
import type { Finding } from './explain/finding.ts'
import type { DefinitionInForce, MetricDefinition } from './metrics/definition.ts'
import { groupTitle, type Names, readNames } from './metrics/group-keys.ts'
import {
  type Grouping,
  groupKeys,
  type Metric,
  type MetricRange,
  metrics,
  usualThreshold,
} from './metrics/metric-query.ts'
import { ourMetrics } from './metrics/our-metrics.ts'
import type { Asker, MetricAnswer } from './metrics/their-metrics.ts'
import { verdictsOf } from './verdict.ts'

export interface CrosscheckRequest {
  readonly groupings: readonly Grouping[]
  readonly range: MetricRange
  /** Hours; the service's default when left out. */
  readonly threshold?: number | undefined
  readonly inForce: DefinitionInForce
}

export interface CrosscheckEffects {
  readonly engine: Engine
  readonly asker: Asker
  readonly runId: string
  /** ISO 8601. */
  readonly now: () => string
}

export interface Crosschecked {
  readonly rows: readonly CrosscheckRow[]
  readonly findings: readonly Finding[]
  readonly coverage: ReferenceCoverage
  readonly requests: number
  /** The groupings compared, for each metric. */
  readonly compared: readonly { readonly metric: Metric; readonly groupBy: string; readonly groups: number }[]
  /** Why it ended early; undefined when everything was compared. */
  readonly stopped: string | undefined
}

interface Compared {
  readonly metric: Metric
  readonly answer: MetricAnswer
  readonly groups: readonly ComparedGroup[]
}

async function askAll(
  { asker }: CrosscheckEffects,
  { groupings, range, threshold = usualThreshold }: CrosscheckRequest,
): Promise<{ answers: MetricAnswer[]; stopped: string | undefined }> {
  const answers: MetricAnswer[] = []
  try {
    for (const metric of metrics)
      for (const grouping of groupings) {
        const more = metric === 'workersOverHours' ? { threshold } : {}
        answers.push(await asker.ask({ metric, grouping, ...range, ...more }))
      }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    return { answers, stopped: error.report.what }
  }
  return { answers, stopped: undefined }
}

interface Sides {
  readonly engine: Engine
  readonly definition: MetricDefinition
  readonly names: Names
}

async function compareAll(sides: Sides, answers: readonly MetricAnswer[]): Promise<Compared[]> {
  const compared: Compared[] = []
  for (const metric of metrics) {
    const own = answers.filter(({ query }) => query.metric === metric)
    const [first] = own
    if (!first) continue
    const groupings = own.map(({ query }) => query.grouping)
    const ours = await ourMetrics(sides.engine, { ...first.query, groupings }, sides.definition)
    compared.push(...own.map(answer => ({ metric, answer, groups: compare(ours, answer, sides) })))
  }
  return compared
}

/** Another definition first, then the records behind the differences that are left. */
async function findingsOf(
  effects: CrosscheckEffects,
  { request, sides, compared }: { request: CrosscheckRequest; sides: Sides; compared: readonly Compared[] },
): Promise<Finding[]> {
  const answers = new AnswerSet(effects.engine, sides.names)
  for (const { answer } of compared) answers.add(answer)
  const findings: Finding[] = []
  const watermark = (await readWatermark(effects.engine, timesheets.name))?.watermark ?? undefined
  for (const metric of metrics) {
    const groups = compared.filter(one => one.metric === metric).flatMap(one => one.groups)
    if (!groups.some(group => differs(group, metric))) continue
    const doubted = await doubt(answers, sides.definition, metric)
    if (doubted) findings.push(doubted.finding)
    if (doubted?.isWhole) continue
    const definition = doubted?.definition ?? sides.definition
    findings.push(
      ...(await explain({ ...sides, ...effects, definition, watermark, range: request.range }, metric)),
    )
  }
  return findings
}

/** Replaces the recorded result of the last crosscheck. */
export async function crosscheck(
  effects: CrosscheckEffects,
  request: CrosscheckRequest,
): Promise<Crosschecked> {
  const { engine, asker } = effects
  const sides = { engine, definition: request.inForce.definition, names: await readNames(engine) }
  const { answers, stopped } = await askAll(effects, request)
  const compared = await compareAll(sides, answers)
  const findings = await findingsOf(effects, { request, sides, compared })
  const coverage = (await readCoverage(engine))?.requisitions ?? nothingMissing
  const stamp = { run_id: effects.runId, definition_id: request.inForce.id, checked_at: effects.now() }
  const rows = compared.flatMap(({ metric, groups }) =>
    groups.flatMap(group =>
      rowsOf(group, { metric, sides, findings, coverage }).map(row => ({ ...row, ...stamp })),
    ),
  )
  await replaceCrosscheck(engine, rows)
  return {
    rows,
    findings,
    coverage,
    requests: asker.requests,
    compared: compared.map(({ metric, groups, answer }) => ({
      metric,
      groupBy: answer.query.grouping.join(',') || 'all',
      groups: groups.length,
    })),
    stopped,
  }
}

const nothingMissing: ReferenceCoverage = { stored: 0, known: 0, withoutId: 0 }

interface Judging {
  readonly metric: Metric
  readonly sides: Sides
  readonly findings: readonly Finding[]
  readonly coverage: ReferenceCoverage
}

function rowsOf(
  group: ComparedGroup,
  { metric, sides, findings, coverage }: Judging,
): Omit<CrosscheckRow, 'run_id' | 'definition_id' | 'checked_at'>[] {
  const { definition, names } = sides
  const keys = group.keys ?? keysOf(group, { definition, names })
  const parts = groupKeys.flatMap(name => keys[name] ?? [])
  const isKnown = group.keys !== undefined || parts.length === group.groupBy.split(',').length
  const which = {
    metric,
    group_by: group.groupBy,
    // A group that we do not have keeps the service's label, so that no two groups become one.
    group_key: isKnown ? parts.join('|') : group.label,
    group_label: groupTitle(keys, definition, names),
  }
  return verdictsOf(group, { metric, keys, findings, coverage }).map(verdict => ({ ...which, ...verdict }))
}
