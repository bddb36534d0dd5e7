/** Probes: requests about few records, chosen so that two interpretations of a rule give different answers. */
import { dayMs, hourMs, monthOf, startOfUtcDay, utcDay } from '../../lib/dates.ts'
import type { MetricDefinition, Rule } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { type Grouping, groupingOf } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import { type OurGroup, ourMetrics } from '../metrics/our-metrics.ts'
import type { Asker } from '../metrics/their-metrics.ts'
import type { AnswerSet } from './answer-set.ts'
import type { Fit } from './fit.ts'

export interface Probing {
  readonly asker: Asker
  readonly answerSet: AnswerSet
  readonly fit: Fit
}

/** Only the newest moments are searched for a window. */
const most = 5000

async function momentsOf(engine: MetricReader, source: string): Promise<number[]> {
  const rows = await engine.rows<{ epoch_ms: number }>(
    `select cast(extract(epoch from moment_at) * 1000 as bigint) as epoch_ms from (${source}) as moment order by epoch_ms desc nulls last limit ${most}`,
  )
  return rows.map(row => Number(row.epoch_ms))
}

const acceptances = `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null and not is_deleted`
const weekEndings = `select distinct week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null and not is_deleted`

/** Far enough from midnight to be the same day in UTC and in London. */
const isMidday = (timeMs: number): boolean => {
  const hour = (timeMs - startOfUtcDay(timeMs)) / hourMs
  return hour >= 2 && hour < 22
}

/** Two consecutive days with different counts: the answer shows which of them belong to the range. */
function unequalDays(moments: readonly number[]): MetricRange[] {
  const counts = new Map<number, number>()
  for (const at of moments) counts.set(startOfUtcDay(at), (counts.get(startOfUtcDay(at)) ?? 0) + 1)
  const unclear = new Set(moments.filter(at => !isMidday(at)).map(at => startOfUtcDay(at)))
  const isClear = (day: number): boolean => ![day - dayMs, day, day + dayMs].some(one => unclear.has(one))
  return [...counts.keys()]
    .filter(day => isClear(day) && isClear(day + dayMs))
    .filter(day => counts.has(day + dayMs) && counts.get(day) !== counts.get(day + dayMs))
    .map(day => ({ from: utcDay(day), to: utcDay(day + dayMs) }))
}

/** After 23:00 UTC in summer, London has the next day; the range begins with that day. */
function lateInSummer(moments: readonly number[], isInclusive: boolean): MetricRange[] {
  const isLate = (at: number): boolean => {
    const month = monthOf(at)
    return at - startOfUtcDay(at) >= 23 * hourMs && month >= 4 && month <= 9
  }
  return moments.filter(isLate).map(at => {
    const first = startOfUtcDay(at) + (isInclusive ? dayMs : 0)
    return { from: utcDay(first), to: utcDay(first + 2 * dayMs) }
  })
}

/** Weeks that end at midnight, where only the first instant of the day of `to` may count; in winter London agrees with UTC. */
function endingAtMidnight(weeks: readonly number[]): MetricRange[] {
  return weeks
    .filter(at => at === startOfUtcDay(at) && [1, 2, 11, 12].includes(monthOf(at)))
    .map(at => ({ from: utcDay(at - 3 * dayMs), to: utcDay(at) }))
}

/** A second window, in case a record of the first one is not stored here. */
const windowsEach = 2

export async function probeWindows(engine: MetricReader, probing: Probing): Promise<void> {
  const { asker, answerSet, fit } = probing
  const since = answerSet.answers.length
  const moments = await momentsOf(engine, acceptances)
  const weeks = await momentsOf(engine, weekEndings)
  const ask = async (metric: 'timeToFill' | 'workersOverHours', ranges: readonly MetricRange[]) => {
    for (const range of ranges.slice(0, windowsEach))
      answerSet.add(await asker.ask({ metric, grouping: [], ...range }, 1))
    if (answerSet.answers.length > since) {
      await fit.try(['from', 'to', 'zone'], { since, figures: ['rawCount', 'workerWeeks'] })
    }
  }
  await ask('timeToFill', unequalDays(moments))
  if (fit.isOpen('from') || fit.isOpen('to')) await ask('workersOverHours', aroundWeeks(weeks))
  if (fit.isOpen('zone')) await ask('timeToFill', lateInSummer(moments, fit.definition.from === 'inclusive'))
  if (fit.isOpen('to')) await ask('workersOverHours', endingAtMidnight(weeks))
}

/** Without suitable acceptances: from the end of one week to the end of the next. */
function aroundWeeks(weeks: readonly number[]): MetricRange[] {
  return weeks.slice(1, 3).map(at => ({ from: utcDay(at), to: utcDay(at + 7 * dayMs) }))
}

/** With the greatest week as threshold, no week is over it and one is exactly at it. */
export async function probeThreshold(
  engine: MetricReader,
  { asker, answerSet, fit }: Probing,
): Promise<void> {
  const unrounded = { ...fit.definition, hoursDecimals: null }
  const [all] = await ourMetrics(engine, { metric: 'workersOverHours', groupings: [[]] }, unrounded)
  const threshold = all?.figures.maxWeeklyHours ?? 0
  if (threshold <= 0 || threshold >= 1000) return
  const since = answerSet.answers.length
  answerSet.add(await asker.ask({ metric: 'workersOverHours', grouping: [], threshold }, 1))
  await fit.try(['threshold'], { since, figures: ['workersOverThreshold', 'distinctWorkersOverThreshold'] })
}

/** Each has a project or an agency, so that a request can be limited to a few groups. */
const groupings = ['project', 'agency', 'project,agency', 'agency,month', 'project,month', 'agency,week'].map(
  words => groupingOf(words) as Grouping,
)

const separable = ['bounds', 'quantiles', 'valueQuantiles', 'days'] as const satisfies readonly Rule[]

const probesEach = 2

interface Separation extends Probing {
  /** Fits everything that depends on the rule again. */
  readonly refit: () => Promise<void>
}

export async function separate(
  engine: MetricReader,
  { asker, answerSet, fit, refit }: Separation,
): Promise<void> {
  for (const rule of separable) {
    for (let probe = 0; probe < probesEach && fit.isOpen(rule); probe += 1) {
      const [first, second] = fit.alive(rule)
      const found = await differing(
        engine,
        { ...fit.definition, [rule]: first },
        { ...fit.definition, [rule]: second },
      )
      if (!found) break
      const { project, agency } = found.keys
      const grouping = groupingOf(found.groupBy) as Grouping
      answerSet.add(await asker.ask({ metric: 'timeToFill', grouping, project, agency }, 1))
      await refit()
    }
  }
}

async function differing(
  engine: MetricReader,
  left: MetricDefinition,
  right: MetricDefinition,
): Promise<OurGroup | undefined> {
  const query = { metric: 'timeToFill', groupings } as const
  const byKey = new Map((await ourMetrics(engine, query, right)).map(group => [nameOf(group), group]))
  return (await ourMetrics(engine, query, left)).find(group => {
    const other = byKey.get(nameOf(group))
    return other && JSON.stringify(other.figures) !== JSON.stringify(group.figures)
  })
}

const nameOf = ({ groupBy, groupKey }: OurGroup): string => `${groupBy}:${groupKey}`
