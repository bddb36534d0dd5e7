/** Questions about few records each, chosen so that the readings of a range, or of a threshold, answer differently. */
import { dayMs, hourMs, monthOf, startOfUtcDay, utcDay } from '../../lib/dates.ts'
import type { MetricRange } from '../metric-query.ts'
import type { MetricReader } from '../our-metrics.ts'
import { ourMetrics } from '../our-metrics.ts'
import type { Asker } from '../their-metrics.ts'
import type { Evidence } from './evidence.ts'
import type { Fit } from './fit.ts'

export interface Probing {
  readonly asker: Asker
  readonly evidence: Evidence
  readonly fit: Fit
}

/** Moments looked at when choosing a window; the newest. */
const most = 5000

async function momentsOf(engine: MetricReader, source: string): Promise<number[]> {
  const rows = await engine.rows<{ epoch_ms: number }>(
    `select cast(extract(epoch from moment_at) * 1000 as bigint) as epoch_ms from (${source}) as moment order by epoch_ms desc nulls last limit ${most}`,
  )
  return rows.map(row => Number(row.epoch_ms))
}

const acceptances = `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null and not is_deleted`
const weekEndings = `select distinct week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null and not is_deleted`

/** Far enough from midnight that every zone between New York and Tokyo sees the same day would be rare: London's will do. */
const isMidday = (timeMs: number): boolean => {
  const hour = (timeMs - startOfUtcDay(timeMs)) / hourMs
  return hour >= 2 && hour < 22
}

/** Two days of different counts, one after the other: what is returned tells which of them belong to the range. */
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

/** A moment after 23:00 UTC in summer is of the next day in London; the range begins with that day. */
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

/** Weeks that end at midnight, where the day of `to` may count with its first instant only; in winter London agrees. */
function endingAtMidnight(weeks: readonly number[]): MetricRange[] {
  return weeks
    .filter(at => at === startOfUtcDay(at) && [1, 2, 11, 12].includes(monthOf(at)))
    .map(at => ({ from: utcDay(at - 3 * dayMs), to: utcDay(at) }))
}

/** A second window, in case the first one holds a record that we do not have. */
const windowsEach = 2

export async function probeWindows(engine: MetricReader, probing: Probing): Promise<void> {
  const { asker, evidence, fit } = probing
  const since = evidence.answers.length
  const moments = await momentsOf(engine, acceptances)
  const weeks = await momentsOf(engine, weekEndings)
  const ask = async (metric: 'timeToFill' | 'workersOverHours', ranges: readonly MetricRange[]) => {
    for (const range of ranges.slice(0, windowsEach))
      evidence.add(await asker.ask({ metric, grouping: [], ...range }, 1))
    if (evidence.answers.length > since) {
      await fit.try(['from', 'to', 'zone'], { since, figures: ['rawCount', 'workerWeeks'] })
    }
  }
  await ask('timeToFill', unequalDays(moments))
  if (fit.isOpen('from') || fit.isOpen('to')) await ask('workersOverHours', aroundWeeks(weeks))
  if (fit.isOpen('zone')) await ask('timeToFill', lateInSummer(moments, fit.definition.from === 'inclusive'))
  if (fit.isOpen('to')) await ask('workersOverHours', endingAtMidnight(weeks))
}

/** Where no acceptances can tell: from the end of a week to the end of the next. */
function aroundWeeks(weeks: readonly number[]): MetricRange[] {
  return weeks.slice(1, 3).map(at => ({ from: utcDay(at), to: utcDay(at + 7 * dayMs) }))
}

/** With the greatest week as threshold, none is over it and one at it. */
export async function probeThreshold(engine: MetricReader, { asker, evidence, fit }: Probing): Promise<void> {
  const unrounded = { ...fit.definition, hoursDecimals: null }
  const [all] = await ourMetrics(engine, { metric: 'workersOverHours', groupings: [[]] }, unrounded)
  const threshold = all?.figures.maxWeeklyHours ?? 0
  if (threshold <= 0 || threshold >= 1000) return
  const since = evidence.answers.length
  evidence.add(await asker.ask({ metric: 'workersOverHours', grouping: [], threshold }, 1))
  await fit.try(['threshold'], { since, figures: ['workersOverThreshold', 'distinctWorkersOverThreshold'] })
}
