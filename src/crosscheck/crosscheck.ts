/** The crosscheck: reads the service's metrics, compares them with ours, explains the differences and records the result. */

import { requisitions } from '../contract/resources/requisitions.ts'
import { timesheets } from '../contract/resources/timesheets.ts'
import { BudgetSpent } from '../lib/errors.ts'
import { groupBy } from '../lib/group-by.ts'
import { noteLosses } from '../state/evidence/losses.ts'
import { replaceCrosscheck } from '../state/marts/metrics.ts'
import type { CrosscheckRow } from '../state/marts/tables.ts'
import { readWatermark } from '../state/scans/watermarks.ts'
import type { Engine } from '../warehouse/engine.ts'
import { AnswerSet } from './calibrate/answer-set.ts'
import { doubt } from './calibrate/definition-doubt.ts'
import { readZones, type Zones } from './calibrate/zones.ts'
import { type ComparedGroup, compare, differs, keysIn } from './compare.ts'
import { explain } from './explain/explain.ts'
import type { Explanation } from './explain/explain-fill.ts'
import type { CrosscheckFinding } from './explain/finding.ts'
import { type StoredRecords, storedRecords } from './explain/stored-records.ts'
import type { DefinitionInForce, MetricDefinition } from './metrics/definition.ts'
import { groupTitle, type PartyNames, readNames } from './metrics/group-keys.ts'
import {
  defaultThreshold,
  type Grouping,
  groupingName,
  groupKeys,
  type MetricName,
  type MetricRange,
  metrics,
} from './metrics/metric-query.ts'
import { measureOne } from './metrics/our-metrics.ts'
import type { MetricAnswer, MetricClient } from './metrics/their-metrics.ts'
import { type Verdict, verdictsOf } from './verdict.ts'

export interface CrosscheckRequest {
  readonly groupings: readonly Grouping[]
  readonly range: MetricRange
  /** Hours; the service's default when left out. */
  readonly threshold?: number | undefined
  readonly inForce: DefinitionInForce
}

export interface CrosscheckEffects {
  readonly engine: Engine
  readonly asker: MetricClient
  readonly runId: string
  /** ISO 8601. */
  readonly now: () => string
  /** First use of the asker, if earlier: its answers may miss changes since then. ISO 8601. */
  readonly askedAt?: string
}

export interface CrosscheckResult {
  readonly rows: readonly CrosscheckRow[]
  readonly findings: readonly CrosscheckFinding[]
  /** Whether the requests sufficed to examine every difference. */
  readonly isComplete: boolean
  readonly requests: number
  /** The groupings compared, for each metric. */
  readonly compared: readonly {
    readonly metric: MetricName
    readonly groupBy: string
    readonly groups: number
  }[]
  /** Why it ended early; undefined when everything was compared. */
  readonly stopped: string | undefined
}

interface ComparedMetric {
  readonly metric: MetricName
  readonly answer: MetricAnswer
  readonly groups: readonly ComparedGroup[]
}

async function askAll(
  asker: MetricClient,
  { groupings, range, threshold = defaultThreshold }: CrosscheckRequest,
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

/** The warehouse's side of the comparison. */
export interface OurSide {
  readonly stored: StoredRecords
  readonly names: PartyNames
  readonly zones: () => Promise<Zones>
  /** Of timesheets; none before the first sync. */
  readonly watermark: () => Promise<string | null | undefined>
}

interface Sides extends OurSide {
  readonly asker: MetricClient
  readonly definition: MetricDefinition
  /** When the first figure was asked for, ISO 8601. */
  readonly askedAt: string
}

async function compareAll(sides: Sides, answers: readonly MetricAnswer[]): Promise<ComparedMetric[]> {
  const compared: ComparedMetric[] = []
  for (const metric of metrics) {
    const own = answers.filter(({ query }) => query.metric === metric)
    const [first] = own
    if (!first) continue
    const groupings = own.map(({ query }) => query.grouping)
    const ours = await measureOne(sides.stored.measure, { ...first.query, groupings }, sides.definition)
    compared.push(...own.map(answer => ({ metric, answer, groups: compare(ours, answer, sides) })))
  }
  return compared
}

interface DifferenceSearch {
  readonly request: CrosscheckRequest
  readonly sides: Sides
  readonly compared: readonly ComparedMetric[]
}

/** Tries other possible definitions first, then looks for the records behind the remaining differences. */
async function findingsOf({ request, sides, compared }: DifferenceSearch): Promise<Explanation> {
  const all: CrosscheckFinding[] = []
  let isComplete = true
  for (const metric of metrics) {
    const own = compared.filter(one => one.metric === metric).flatMap(one => one.groups)
    const groups = own.filter(group => differs(group, metric))
    if (groups.length === 0) continue
    const answers = new AnswerSet({
      ...{ measure: sides.stored.measure, names: sides.names, zones: await sides.zones() },
    })
    for (const { answer } of compared) answers.add(answer)
    const possible = await doubt(answers, request.inForce, { metric, which: 'possible' })
    if (possible) all.push(possible.finding)
    if (possible?.explainsAll) continue
    const definition = possible?.definition ?? sides.definition
    const explaining = { ...sides, definition, watermark: await sides.watermark(), range: request.range }
    const found = await explain(explaining, metric, groups)
    all.push(...found.findings)
    isComplete &&= found.isComplete
    const isOpen = (group: ComparedGroup): boolean =>
      judge(group, { metric, sides, findings: all }).some(({ verdict }) => verdict === 'unexplained')
    if (possible || !groups.some(isOpen)) continue
    const excluded = await doubt(answers, request.inForce, { metric, which: 'excluded' })
    if (excluded) all.push(excluded.finding)
  }
  return { findings: all, isComplete }
}

/** Queues records that were lost here for the next sync. */
async function note(engine: Engine, findings: readonly CrosscheckFinding[], at: string): Promise<void> {
  for (const resource of [timesheets, requisitions]) {
    const records = findings.flatMap(({ loss }) => (loss?.resource === resource.name ? [loss] : []))
    await noteLosses(engine, { resource, records }, at)
  }
}

type Comparison = Omit<CrosscheckResult, 'rows' | 'requests'> & { readonly rows: readonly JudgedRow[] }

/** Reads the service's figures and finds out why they differ from ours. */
export async function compareFigures(
  our: OurSide,
  { asker, askedAt }: Pick<Sides, 'asker' | 'askedAt'>,
  request: CrosscheckRequest,
): Promise<Comparison> {
  const { answers, stopped } = await askAll(asker, request)
  const sides = { ...our, asker, askedAt, definition: request.inForce.definition }
  const compared = await compareAll(sides, answers)
  const { findings, isComplete } = await findingsOf({ request, sides, compared })
  const rows = compared.flatMap(({ metric, groups }) => rowsOf(groups, { metric, sides, findings }))
  const counts = compared.map(({ metric, groups, answer }) => ({
    ...{ metric, groupBy: groupingName(answer.query.grouping), groups: groups.length },
  }))
  return { rows, findings, isComplete, compared: counts, stopped }
}

/** Replaces the recorded result of the last crosscheck. */
export async function crosscheck(
  effects: CrosscheckEffects,
  request: CrosscheckRequest,
): Promise<CrosscheckResult> {
  const { engine, asker, runId, now } = effects
  const { askedAt = now() } = effects
  const our: OurSide = {
    stored: storedRecords(engine),
    names: await readNames(engine),
    zones: () => readZones(engine),
    watermark: async () => (await readWatermark(engine, timesheets.name))?.watermark,
  }
  const found = await compareFigures(our, { asker, askedAt }, request)
  await note(engine, found.findings, now())
  const stamp = { run_id: runId, definition_id: request.inForce.id, checked_at: now() }
  const rows = found.rows.map(row => ({ ...row, ...stamp }))
  await replaceCrosscheck(engine, rows)
  return { ...found, rows, requests: asker.requests }
}

interface VerdictRequest {
  readonly metric: MetricName
  readonly sides: Sides
  readonly findings: readonly CrosscheckFinding[]
}

const judge = (group: ComparedGroup, { metric, sides, findings }: VerdictRequest): Verdict[] =>
  verdictsOf(group, { metric, keys: keysIn(group, sides), findings, ...sides })

type JudgedRow = Omit<CrosscheckRow, 'run_id' | 'definition_id' | 'checked_at'>

/** Under a wrong definition, a group of the service and one of ours can have one key: the second one is numbered. */
function rowsOf(groups: readonly ComparedGroup[], judging: VerdictRequest): JudgedRow[] {
  const byKey = groupBy(groups, group => groupKey(group, judging.sides))
  return [...byKey].flatMap(([key, own]) =>
    own.flatMap((group, index) => groupRows(group, index === 0 ? key : `${key}#${index + 1}`, judging)),
  )
}

/** A group of the service whose keys we cannot read keeps its label, so that it cannot collide with one of ours. */
function groupKey(group: ComparedGroup, sides: Sides): string {
  const keys = keysIn(group, sides)
  const parts = groupKeys.flatMap(name => keys[name] ?? [])
  return parts.length === group.groupBy.split(',').length ? parts.join('|') : group.label
}

function groupRows(group: ComparedGroup, key: string, judging: VerdictRequest): JudgedRow[] {
  const { definition, names } = judging.sides
  const which = {
    ...{ metric: judging.metric, group_by: group.groupBy, group_key: key },
    group_label: groupTitle(keysIn(group, judging.sides), definition, names),
  }
  return judge(group, judging).map(verdict => ({ ...which, ...verdict }))
}
