/** Fits the definition of the metrics to the answers of the service; each step needs only the steps before it. */
import { BudgetSpent } from '../../lib/errors.ts'
import type { DefinitionRule, MetricDefinition } from '../metrics/definition.ts'
import { type PartyNames, shapeOf } from '../metrics/group-keys.ts'
import { figureNames, type Grouping, groupingOf, type MetricName } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import type { MetricAnswer, MetricClient } from '../metrics/their-metrics.ts'
import { AnswerSet, type Aspect } from './answer-set.ts'
import { Fit, type RuleState } from './fit.ts'
import { plausibleZones } from './plausible-zones.ts'
import { probeThreshold, probeWindows, separate } from './probes.ts'
import { type CalibrationRecords, readRecords } from './records.ts'
import { nearOffsets } from './zones.ts'

export interface Calibration {
  readonly definition: MetricDefinition
  readonly rules: ReadonlyMap<DefinitionRule, RuleState>
  readonly requests: number
  /** Why it ended early; undefined when every request was sent. */
  readonly stopped: string | undefined
}

export interface CalibrationEffects {
  readonly engine: MetricReader
  readonly asker: MetricClient
}

/** Small groups limit the damage of a missing record; large groups show quantiles. */
const asked: readonly (readonly [MetricName, string, pages: number])[] = [
  ['timeToFill', 'all', 1],
  ['timeToFill', 'company', 2],
  ['timeToFill', 'agency', 2],
  ['timeToFill', 'project', 2],
  ['timeToFill', 'month', 1],
  ['timeToFill', 'week', 2],
  ['timeToFill', 'project,agency', 2],
  ['timeToFill', 'project,agency,week', 2],
  ['workersOverHours', 'all', 1],
  ['workersOverHours', 'company', 2],
  ['workersOverHours', 'project', 2],
  ['workersOverHours', 'week', 2],
  ['workersOverHours', 'month', 1],
  ['workersOverHours', 'project,agency,month', 2],
]

export const calibrate = async ({ engine, asker }: CalibrationEffects): Promise<Calibration> =>
  calibrateOn(await readRecords(engine), asker)

export async function calibrateOn(records: CalibrationRecords, asker: MetricClient): Promise<Calibration> {
  const { names } = records
  const answerSet = new AnswerSet(records)
  const fit = new Fit(answerSet)
  let stopped: string | undefined
  try {
    for (const [metric, words, pages] of asked) {
      const grouping = groupingOf(words) as Grouping
      answerSet.add(await asker.ask({ metric, grouping }, pages))
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    stopped = error.report.what
  }
  readOff(fit, answerSet.answers, names)
  await fitAll(fit, () =>
    plausibleZones({ ...records, definition: fit.definition, answers: answerSet.answers }),
  )
  const probing = { records, asker, answerSet, fit }
  try {
    await probeWindows(probing)
    await fitOffset(fit)
    await probeThreshold(probing)
    await separate({ ...probing, refit: () => fitDays(fit) })
    await fitRest(fit)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    stopped ??= error.report.what
  }
  return { definition: fit.definition, rules: fit.rules, requests: asker.requests, stopped }
}

const isSingle = ({ rawCount }: { readonly rawCount?: number | null }): boolean => rawCount === 1

/** Decides which records count first, by sums that neither zone nor unit changes; then where they count, then how much. */
async function fitAll(fit: Fit, plausible: () => readonly string[]): Promise<void> {
  await fit.try(['acceptance', 'requisitionStatuses'], {
    metric: 'timeToFill',
    groupings: ['all', 'agency', 'project', 'project,agency'],
    figures: ['rawCount'],
  })
  const byProject = { metric: 'workersOverHours', groupings: ['all', 'project'] } as const
  await fit.try(['timesheetStatuses'], { ...byProject, figures: ['totalHours'], isLoose: true })
  await fit.try(['timesheetStatuses', 'workerWeek'], { ...byProject, figures: ['workerWeeks'] })
  await fit.try(['hoursDecimals'], {
    ...byProject,
    figures: ['totalHours', 'averageWeeklyHours', 'maxWeeklyHours'],
  })
  fit.restrict('zone', plausible())
  await fit.try(['weekStart', 'zone'], periods)
  await fitOffset(fit)
  // Calendar weeks need the first day and the zone, and differ only where companies end weeks on different days.
  fit.reopen('workerWeek')
  await fit.try(['workerWeek'], {
    ...byProject,
    groupings: [...byProject.groupings, 'company'],
    figures: ['workerWeeks'],
  })
  await fitDays(fit)
}

const periods = {
  groupings: ['month', 'week', 'project,agency,week', 'project,agency,month'],
  figures: ['rawCount', 'workerWeeks'],
}

/** Refines the offset to the minute where no named zone agrees. */
async function fitOffset(fit: Fit): Promise<void> {
  const near = nearOffsets(fit.alive('zone'))
  if (near.length === 0) return
  fit.restrict('zone', near)
  await fit.try(['zone'], { figures: periods.figures })
}

/**
 * The zone whose midnights explain the day counts best. Zones with the same days for acceptances may differ for
 * approvals, so the first such zone could wrongly rule out calendar days. Undefined where no zone makes half of the
 * figures agree.
 */
async function zoneOfMidnights(fit: Fit, aspect: Aspect): Promise<RuleState | undefined> {
  if (!fit.isOpen('zone') || !fit.alive('days').includes('calendarZone')) return undefined
  const trial = fit.copy()
  trial.restrict('days', ['calendarZone'])
  await trial.try(['zone'], aspect)
  const found = trial.rules.get('zone')
  return found?.state === 'found' || found?.state === 'indistinguishable' ? found : undefined
}

/** The bounds determine the quartiles: I = (U − L) / 4, Q1 = L + 1.5 I, Q3 = U − 1.5 I. */
async function fitDays(fit: Fit): Promise<void> {
  const metric = 'timeToFill'
  const bounds = ['lower', 'upper']
  const about = (figures: readonly string[]): Aspect => ({ metric, figures, onlyEqualCounts: true })
  await fit.try(['negativeDays'], { metric, figures: ['rawCount'] })
  // One value is its own minimum, or where the rule drops it, its own bound.
  const single = { ...about(['minDays', ...bounds]), where: isSingle }
  const [before, zone] = [fit.rules.get('zone'), await zoneOfMidnights(fit, single)]
  if (zone) fit.put('zone', zone)
  await fit.try(['days', 'daysDecimals'], single)
  await fit.try(['days', 'quantiles', 'daysDecimals'], about(bounds))
  await fit.try(['minForRule'], about(bounds))
  await fit.try(['bounds'], about(['excludedOutliers', 'count']))
  await fit.try(['days', 'valueQuantiles'], about(['medianDays', 'p25Days', 'p75Days']))
  await fit.try(['daysDecimals'], about([...bounds, 'averageDays', 'medianDays', 'maxDays']))
  await fit.try(['negativeDays'], about(['minDays', 'averageDays']))
  if (zone && before && fit.definition.days !== 'calendarZone') fit.put('zone', before)
}

/** Decides the value rules that are still open, using all answers. */
async function fitRest(fit: Fit): Promise<void> {
  for (const [metric, rules] of valueRules)
    for (const rule of rules)
      if (fit.isOpen(rule))
        await fit.try([rule], { metric, figures: figureNames[metric], isLoose: true, onlyEqualCounts: true })
}

const valueRules: readonly (readonly [MetricName, readonly DefinitionRule[]])[] = [
  [
    'timeToFill',
    ['quantiles', 'valueQuantiles', 'days', 'negativeDays', 'bounds', 'minForRule', 'daysDecimals'],
  ],
  ['workersOverHours', ['workerWeek', 'hoursDecimals']],
]

/** Reads rules that the answers show directly: shapes, words, companies that count, decimals and the min size of a group. */
function readOff(fit: Fit, answers: readonly MetricAnswer[], names: PartyNames): void {
  for (const { group } of answers.flatMap(answer => answer.groups)) {
    for (const [rule, value] of Object.entries(shapeOf(group, names)))
      if (value !== undefined && !fit.rules.has(rule as DefinitionRule))
        fit.acceptStated(rule as DefinitionRule, value as never)
  }
  const hours = answers.flatMap(answer => answer.groups).find(({ hoursField }) => hoursField)?.hoursField
  if (hours === 'netHours' || hours === 'timelogHours') fit.acceptStated('hoursField', hours)
  readCompanies(fit, answers, names)
  readDecimals(fit, answers)
  readLeast(fit, answers)
}

function readCompanies(fit: Fit, answers: readonly MetricAnswer[], names: PartyNames): void {
  const lists = answers.filter(({ query }) => query.grouping.join() === 'company')
  const seen = new Set(
    lists
      .flatMap(({ groups }) => groups.map(({ group }) => group.company))
      .flatMap(value => companyIds(value, names)),
  )
  const isKnown = seen.size > 0 && lists.every(({ isComplete }) => isComplete)
  if (!isKnown) return
  const isAll = [...names.company.keys()].every(id => seen.has(id))
  fit.acceptStated('companies', isAll ? null : [...seen].sort())
}

function companyIds(value: unknown, { company }: PartyNames): string[] {
  if (typeof value === 'object' && value !== null) return [String((value as { id?: unknown }).id)]
  if (typeof value !== 'string') return []
  if (company.has(value)) return [value]
  return [...company].filter(([, name]) => name === value).map(([id]) => id)
}

const digitsOf = (value: number): number => String(value).split('.')[1]?.length ?? 0

/** Takes the decimals of the longest figure, or no rounding when it is as long as computed figures. */
function readDecimals(fit: Fit, answers: readonly MetricAnswer[]): void {
  for (const metric of ['timeToFill', 'workersOverHours'] as const) {
    const figures = answers
      .filter(({ query }) => query.metric === metric)
      .flatMap(({ groups }) => groups.flatMap(group => Object.values(group.figures)))
      .filter(value => value !== null)
    if (figures.length === 0) continue
    const digits = Math.max(...figures.map(digitsOf))
    const rule = metric === 'timeToFill' ? 'daysDecimals' : 'hoursDecimals'
    if (digits > 6) fit.acceptStated(rule, null)
    else fit.restrict(rule, [null, digits])
  }
}

/** Max group sizes that stay possible between the seen groups. */
const maxUnsure = 5

/** The min size lies between the largest group without bounds and the smallest one with bounds. */
function readLeast(fit: Fit, answers: readonly MetricAnswer[]): void {
  const sizes = (hasBounds: boolean): number[] =>
    answers
      .filter(({ query }) => query.metric === 'timeToFill')
      .flatMap(({ groups }) => groups)
      .filter(({ figures }) => (figures.lower !== null) === hasBounds)
      .map(({ figures }) => figures.rawCount ?? 0)
  const min = Math.max(0, ...sizes(false)) + 1
  const max = Math.max(min, Math.min(...sizes(true), min + maxUnsure))
  fit.restrict(
    'minForRule',
    Array.from({ length: max - min + 1 }, (_, index) => min + index),
  )
}
