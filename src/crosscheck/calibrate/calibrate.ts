/** Fits the definition of the metrics to the service's own answers, in an order in which each step needs only those before. */
import { BudgetSpent } from '../../lib/errors.ts'
import type { MetricDefinition, Rule } from '../definition.ts'
import { type Names, shapeOf } from '../group-shape.ts'
import { type Grouping, groupingOf, type Metric } from '../metric-query.ts'
import { readNames } from '../names.ts'
import type { MetricReader } from '../our-metrics.ts'
import type { Answer, Asker } from '../their-metrics.ts'
import { Evidence } from './evidence.ts'
import { Fit, type RuleState } from './fit.ts'
import { separate } from './separate.ts'
import { probeThreshold, probeWindows } from './window-probes.ts'

export interface Calibration {
  readonly definition: MetricDefinition
  readonly rules: ReadonlyMap<Rule, RuleState>
  readonly requests: number
  /** Why it ended before every question was asked. */
  readonly stopped: string | undefined
}

export interface CalibrationEffects {
  readonly engine: MetricReader
  readonly asker: Asker
}

/** Fine groups hold few records each, so that one that is missing spoils few of them; large ones show quantiles. */
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
  const evidence = new Evidence(engine, names)
  const fit = new Fit(evidence)
  let stopped: string | undefined
  try {
    for (const [metric, words, pages] of asked) {
      const grouping = groupingOf(words) as Grouping
      evidence.add(await asker.ask({ metric, grouping }, pages))
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    stopped = error.report.what
  }
  readOff(fit, evidence.answers, names)
  await fitAll(fit)
  try {
    await probeWindows(engine, { asker, evidence, fit })
    await probeThreshold(engine, { asker, evidence, fit })
    await separate(engine, { asker, evidence, fit, refit: () => fitDays(fit) })
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

/** The bounds give the quartiles away: I = (U − L) / 4, Q1 = L + 1.5 I, Q3 = U − 1.5 I. */
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

/** What need not be tried: shapes, words, the companies that are counted, decimals and the least size of a group. */
function readOff(fit: Fit, answers: readonly Answer[], names: Names): void {
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

function readCompanies(fit: Fit, answers: readonly Answer[], names: Names): void {
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

/** As many as the longest figure shows, or none at all when that is as long as computed figures are. */
function readDecimals(fit: Fit, answers: readonly Answer[]): void {
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

/** Sizes of groups that were not seen. */
const mostUnsure = 5

/** Between the largest group without bounds and the smallest one with them. */
function readLeast(fit: Fit, answers: readonly Answer[]): void {
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
