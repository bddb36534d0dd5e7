/** Fits the definition of the metrics to the answers of the service; each step needs only the steps before it. */
import { BudgetSpent } from '../../lib/errors.ts'
import type { MetricDefinition, Rule } from '../metrics/definition.ts'
import { type Names, readNames, shapeOf } from '../metrics/group-keys.ts'
import { type Grouping, groupingOf, type Metric } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import type { Asker, MetricAnswer } from '../metrics/their-metrics.ts'
import { AnswerSet } from './answer-set.ts'
import { Fit, type RuleState } from './fit.ts'
import { probeThreshold, probeWindows, separate } from './probes.ts'

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
  ['workersOverHours', 'project,agency,month', 2],
]

export async function calibrate({ engine, asker }: CalibrationEffects): Promise<Calibration> {
  const names = await readNames(engine)
  const answerSet = new AnswerSet(engine, names)
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
  await fitAll(fit)
  try {
    await probeWindows(engine, { asker, answerSet, fit })
    await probeThreshold(engine, { asker, answerSet, fit })
    await separate(engine, { asker, answerSet, fit, refit: () => fitDays(fit) })
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    stopped ??= error.report.what
  }
  return { definition: fit.definition, rules: fit.rules, requests: asker.requests, stopped }
}

const single = ({ rawCount }: { readonly rawCount?: number | null }): boolean => rawCount === 1

async function fitAll(fit: Fit): Promise<void> {
  await fit.try(['acceptance', 'requisitionStatuses'], {
    metric: 'timeToFill',
    groupings: ['all', 'agency', 'project', 'project,agency'],
    figures: ['rawCount'],
  })
  await fit.try(['weekStart', 'zone'], {
    groupings: ['month', 'week', 'project,agency,week', 'project,agency,month'],
    figures: ['rawCount', 'workerWeeks'],
  })
  await fit.try(['timesheetStatuses', 'workerWeek'], {
    metric: 'workersOverHours',
    figures: ['workerWeeks', 'totalHours'],
  })
  await fit.try(['hoursDecimals'], {
    metric: 'workersOverHours',
    figures: ['totalHours', 'averageWeeklyHours', 'maxWeeklyHours'],
  })
  await fitDays(fit)
}

/** The bounds determine the quartiles: I = (U − L) / 4, Q1 = L + 1.5 I, Q3 = U − 1.5 I. */
async function fitDays(fit: Fit): Promise<void> {
  const metric = 'timeToFill'
  const bounds = ['lower', 'upper']
  // One value is its own minimum, or where the rule drops it, its own bound.
  await fit.try(['days', 'daysDecimals'], { metric, figures: ['minDays', ...bounds], where: single })
  await fit.try(['days', 'quantiles', 'daysDecimals'], { metric, figures: bounds })
  await fit.try(['leastForRule'], { metric, figures: bounds })
  await fit.try(['bounds'], { metric, figures: ['excludedOutliers', 'count'] })
  await fit.try(['days', 'valueQuantiles'], { metric, figures: ['medianDays', 'p25Days', 'p75Days'] })
  await fit.try(['daysDecimals'], { metric, figures: [...bounds, 'averageDays', 'medianDays', 'maxDays'] })
}

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
