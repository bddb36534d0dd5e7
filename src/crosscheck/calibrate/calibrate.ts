/** Fits the definition of the metrics to the answers of the service; each step needs only the steps before it. */
import { BudgetSpent } from '../../lib/errors.ts'
import type { MetricDefinition, Rule } from '../metrics/definition.ts'
import { type Names, shapeOf } from '../metrics/group-keys.ts'
import { figureNames, type Grouping, groupingOf, type Metric } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import type { Asker, MetricAnswer } from '../metrics/their-metrics.ts'
import { AnswerSet, type Aspect } from './answer-set.ts'
import { Fit, type RuleState } from './fit.ts'
import { likelyZones } from './likely-zones.ts'
import { probeThreshold, probeWindows, separate } from './probes.ts'
import { type Records, readRecords } from './records.ts'
import { nearOffsets } from './zones.ts'

export interface Calibration {
  readonly definition: MetricDefinition
  readonly rules: ReadonlyMap<Rule, RuleState>
  readonly requests: number
  /** Why it ended early; undefined when every request was sent. */
  readonly stopped: string | undefined
}

export interface CalibrationEffects {
  readonly engine: MetricReader
  readonly asker: Asker
}

/** A missing record spoils only few of the small groups; large groups show quantiles. */
const asked: readonly (readonly [Metric, string, pages: number])[] = [
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

export async function calibrateOn(records: Records, asker: Asker): Promise<Calibration> {
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
  await fitAll(fit, () => likelyZones({ ...records, definition: fit.definition, answers: answerSet.answers }))
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

/** Which records count is decided by sums that no zone and no unit changes; then where they count, then how much. */
async function fitAll(fit: Fit, likely: () => readonly string[]): Promise<void> {
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
  fit.restrict('zone', likely())
  await fit.try(['weekStart', 'zone'], periods)
  await fitOffset(fit)
  await fitDays(fit)
}

const periods = {
  groupings: ['month', 'week', 'project,agency,week', 'project,agency,month'],
  figures: ['rawCount', 'workerWeeks'],
}

/** Where only offsets agree, by the minute. */
async function fitOffset(fit: Fit): Promise<void> {
  const near = nearOffsets(fit.alive('zone'))
  if (near.length === 0) return
  fit.restrict('zone', near)
  await fit.try(['zone'], { figures: periods.figures })
}

/**
 * The zone by whose midnights days agree best. Zones that show the same days of acceptances may show others of approvals, so that
 * the first of them would speak against such days. Undefined where no zone makes half of the figures agree.
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
  const about = (figures: readonly string[]): Aspect => ({ metric, figures, isComplete: true })
  await fit.try(['negativeDays'], { metric, figures: ['rawCount'] })
  // One value is its own minimum, or where the rule drops it, its own bound.
  const single = { ...about(['minDays', ...bounds]), where: isSingle }
  const [before, zone] = [fit.rules.get('zone'), await zoneOfMidnights(fit, single)]
  if (zone) fit.put('zone', zone)
  await fit.try(['days', 'daysDecimals'], single)
  await fit.try(['days', 'quantiles', 'daysDecimals'], about(bounds))
  await fit.try(['leastForRule'], about(bounds))
  await fit.try(['bounds'], about(['excludedOutliers', 'count']))
  await fit.try(['days', 'valueQuantiles'], about(['medianDays', 'p25Days', 'p75Days']))
  await fit.try(['daysDecimals'], about([...bounds, 'averageDays', 'medianDays', 'maxDays']))
  await fit.try(['negativeDays'], about(['minDays', 'averageDays']))
  if (zone && before && fit.definition.days !== 'calendarZone') fit.put('zone', before)
}

/** Rules of values that are still open, by everything that was asked. */
async function fitRest(fit: Fit): Promise<void> {
  for (const [metric, rules] of valueRules)
    for (const rule of rules)
      if (fit.isOpen(rule))
        await fit.try([rule], { metric, figures: figureNames[metric], isLoose: true, isComplete: true })
}

const valueRules: readonly (readonly [Metric, readonly Rule[]])[] = [
  [
    'timeToFill',
    ['quantiles', 'valueQuantiles', 'days', 'negativeDays', 'bounds', 'leastForRule', 'daysDecimals'],
  ],
  ['workersOverHours', ['workerWeek', 'hoursDecimals']],
]

/** Rules that the answers show directly: shapes, words, companies that count, decimals and the least size of a group. */
function readOff(fit: Fit, answers: readonly MetricAnswer[], names: Names): void {
  for (const { group } of answers.flatMap(answer => answer.groups)) {
    for (const [rule, value] of Object.entries(shapeOf(group, names)))
      if (value !== undefined && !fit.rules.has(rule as Rule)) fit.told(rule as Rule, value as never)
  }
  const hours = answers.flatMap(answer => answer.groups).find(({ hoursField }) => hoursField)?.hoursField
  if (hours === 'netHours' || hours === 'timelogHours') fit.told('hoursField', hours)
  readCompanies(fit, answers, names)
  readDecimals(fit, answers)
  readLeast(fit, answers)
}

function readCompanies(fit: Fit, answers: readonly MetricAnswer[], names: Names): void {
  const lists = answers.filter(({ query }) => query.grouping.join() === 'company')
  const seen = new Set(
    lists
      .flatMap(({ groups }) => groups.map(({ group }) => group.company))
      .flatMap(value => companyIds(value, names)),
  )
  const isKnown = lists.length > 0 && lists.every(({ isWhole }) => isWhole) && seen.size > 0
  if (!isKnown) return
  const isAll = [...names.company.keys()].every(id => seen.has(id))
  fit.told('companies', isAll ? null : [...seen].sort())
}

function companyIds(value: unknown, { company }: Names): string[] {
  if (typeof value === 'object' && value !== null) return [String((value as { id?: unknown }).id)]
  if (typeof value !== 'string') return []
  if (company.has(value)) return [value]
  return [...company].filter(([, name]) => name === value).map(([id]) => id)
}

const digitsOf = (value: number): number => String(value).split('.')[1]?.length ?? 0

/** As many decimals as the longest figure has, or unrounded when it is as long as computed figures are. */
function readDecimals(fit: Fit, answers: readonly MetricAnswer[]): void {
  for (const metric of ['timeToFill', 'workersOverHours'] as const) {
    const figures = answers
      .filter(({ query }) => query.metric === metric)
      .flatMap(({ groups }) => groups.flatMap(group => Object.values(group.figures)))
      .filter(value => value !== null)
    if (figures.length === 0) continue
    const digits = Math.max(...figures.map(digitsOf))
    const rule = metric === 'timeToFill' ? 'daysDecimals' : 'hoursDecimals'
    if (digits > 6) fit.told(rule, null)
    else fit.restrict(rule, [null, digits])
  }
}

/** Most sizes between the seen groups that stay possible. */
const mostUnsure = 5

/** Between the largest group without bounds and the smallest one with them. */
function readLeast(fit: Fit, answers: readonly MetricAnswer[]): void {
  const sizes = (hasBounds: boolean): number[] =>
    answers
      .filter(({ query }) => query.metric === 'timeToFill')
      .flatMap(({ groups }) => groups)
      .filter(({ figures }) => (figures.lower !== null) === hasBounds)
      .map(({ figures }) => figures.rawCount ?? 0)
  const least = Math.max(0, ...sizes(false)) + 1
  const most = Math.max(least, Math.min(...sizes(true), least + mostUnsure))
  fit.restrict(
    'leastForRule',
    Array.from({ length: most - least + 1 }, (_, index) => least + index),
  )
}
