/** Probes: requests about few records, chosen so that two interpretations of a rule give different answers. */
import { dayMs, utcDay } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import type { DefinitionRule, MetricDefinition } from '../metrics/definition.ts'
import type { MetricRange } from '../metrics/metric-query.ts'
import { type Grouping, groupingOf, type MetricName } from '../metrics/metric-query.ts'
import { type GroupMeasure, measureOne, type OurGroup } from '../metrics/our-metrics.ts'
import { localDay, localTime } from '../metrics/periods.ts'
import type { MetricClient } from '../metrics/their-metrics.ts'
import type { AnswerSet } from './answer-set.ts'
import type { Fit } from './fit.ts'
import type { CalibrationRecords } from './records.ts'

export interface ProbeContext {
  readonly records: CalibrationRecords
  readonly asker: MetricClient
  readonly answerSet: AnswerSet
  readonly fit: Fit
}

/** One zone for each set of days that the remaining zones give our records. */
function zonesLeft({ fit, answerSet }: ProbeContext): ZonesLeft {
  const alike = groupBy(fit.alive('zone') as readonly string[], zone => answerSet.zones.sameAs(zone))
  return [...alike.values()].map(([first]) => first) as readonly string[] as ZonesLeft
}

/** At least one. */
type ZonesLeft = readonly [string, ...string[]]

/** Two consecutive days with different counts: the answer shows which of them belong to the range. */
function unequalDays(times: readonly number[], zones: ZonesLeft): MetricRange[] {
  const counts = countsByDay(times, zones[0])
  const shown = times.map(at => new Set(zones.map(zone => localDay(at, zone))))
  const unclear = new Set(shown.filter(({ size }) => size > 1).flatMap(days => [...days]))
  const isClear = (day: string): boolean => ![-1, 0, 1].some(shift => unclear.has(utcDay(day, shift)))
  return [...counts.keys()]
    .map(from => ({ from, to: utcDay(from, 1) }))
    .filter(({ from, to }) => isClear(from) && isClear(to))
    .filter(({ from, to }) => counts.has(to) && counts.get(from) !== counts.get(to))
}

/** The day, as the definition counts days, that divides the remaining zones most evenly. */
function dividingDay(
  times: readonly number[],
  probing: ProbeContext,
  asked: Set<string>,
): MetricRange | undefined {
  const zones = zonesLeft(probing)
  const { from } = probing.fit.definition
  const counted = zones.map(zone => countsByDay(times, zone))
  const days = new Set(counted.flatMap(counts => [...counts.keys()]))
  const [best] = [...days]
    .filter(day => !asked.has(day))
    .map(day => {
      const alike = groupBy(counted, counts => counts.get(day) ?? 0)
      return { day, largest: Math.max(...[...alike.values()].map(({ length }) => length)) }
    })
    .filter(({ largest }) => largest < zones.length)
    .sort((left, right) => left.largest - right.largest)
  if (!best) return undefined
  asked.add(best.day)
  // If ranges exclude their first day, begin a day earlier; the day after the range may or may not count.
  return {
    from: utcDay(best.day, from === 'inclusive' ? 0 : -1),
    to: endOf(best.day, probing.fit.definition),
  }
}

const endOf = (day: string, { to }: MetricDefinition): string => utcDay(day, to === 'inclusive' ? 0 : 1)

function countsByDay(times: readonly number[], zone: string): ReadonlyMap<string, number> {
  const byDay = groupBy(times, at => localDay(at, zone))
  return new Map([...byDay].map(([day, { length }]) => [day, length] as const))
}

/** Weeks that end at midnight: they show whether only the first instant of the day of `to` counts. */
function endingAtMidnight(weeks: readonly number[], zones: ZonesLeft): MetricRange[] {
  return weeks
    .filter(at => zones.every(zone => localTime(at, zone) % dayMs === 0))
    .map(at => localDay(at, zones[0]))
    .map(day => ({ from: utcDay(day, -3), to: day }))
}

/** Recent records may change between two requests: leave out the last four weeks. */
const settledMs = 28 * dayMs

function settledFirst(newestFirst: readonly number[]): readonly number[] {
  const since = (newestFirst[0] ?? 0) - settledMs
  return [...newestFirst.filter(at => at < since), ...newestFirst.filter(at => at >= since)]
}

/** A second window, in case a record of the first one is not stored here. */
const windowsEach = 2

/** Max probes; each divides the remaining zones. */
const zoneProbes = 8

export async function probeWindows(probing: ProbeContext): Promise<void> {
  const { asker, answerSet, fit, records } = probing
  const since = answerSet.answers.length
  const times = settledFirst(records.acceptances)
  const weeks = settledFirst(records.weekEndings)
  const ask = async (
    metric: MetricName,
    ranges: readonly MetricRange[],
    more: readonly DefinitionRule[] = [],
  ): Promise<void> => {
    for (const range of ranges) answerSet.add(await asker.ask({ metric, grouping: [], ...range }, 1))
    await fit.try(['from', 'to', ...more], { since, figures: ['rawCount', 'workerWeeks'] })
  }
  await ask('timeToFill', unequalDays(times, zonesLeft(probing)).slice(0, windowsEach))
  if (fit.isOpen('from') || fit.isOpen('to'))
    await ask('workersOverHours', weekRanges(weeks, zonesLeft(probing)))
  const asked = new Set<string>()
  for (let probe = 0; probe < zoneProbes; probe += 1) {
    const range = dividingDay(times, probing, asked)
    if (!range) break
    await ask('timeToFill', [range], ['zone'])
  }
  if (fit.isOpen('to'))
    await ask('workersOverHours', endingAtMidnight(weeks, zonesLeft(probing)).slice(0, windowsEach))
}

/** Without suitable acceptances: from the end of one week to the end of the next. */
function weekRanges(weeks: readonly number[], [zone]: ZonesLeft): MetricRange[] {
  return weeks
    .slice(1, 1 + windowsEach)
    .map(at => localDay(at, zone))
    .map(day => ({ from: day, to: utcDay(day, 7) }))
}

const overThreshold = ['workersOverThreshold', 'distinctWorkersOverThreshold']

/**
 * The first answers decide, unless no group has a week of exactly the default threshold. Then the longest week
 * becomes the threshold: no week is over it, and one is at it. A single changed record could decide that wrongly.
 */
export async function probeThreshold({ records, asker, answerSet, fit }: ProbeContext): Promise<void> {
  await fit.try(['threshold'], { metric: 'workersOverHours', figures: overThreshold })
  if (!fit.isOpen('threshold')) return
  const unrounded = { ...fit.definition, hoursDecimals: null }
  const [all] = await measureOne(records.measure, { metric: 'workersOverHours', groupings: [[]] }, unrounded)
  const threshold = all?.figures.maxWeeklyHours ?? 0
  if (threshold <= 0 || threshold >= 1000) return
  const since = answerSet.answers.length
  answerSet.add(await asker.ask({ metric: 'workersOverHours', grouping: [], threshold }, 1))
  await fit.try(['threshold'], { since, figures: overThreshold })
}

/** Each has a project or an agency, so that a request can be limited to a few groups. */
const groupings = ['project', 'agency', 'project,agency', 'agency,month', 'project,month', 'agency,week'].map(
  words => groupingOf(words) as Grouping,
)

const separable = [
  'bounds',
  'quantiles',
  'valueQuantiles',
  'days',
] as const satisfies readonly DefinitionRule[]

const probesEach = 2

interface Separation extends ProbeContext {
  /** Fits everything that depends on the rule again. */
  readonly refit: () => Promise<void>
}

export async function separate({ records, asker, answerSet, fit, refit }: Separation): Promise<void> {
  for (const rule of separable) {
    for (let probe = 0; probe < probesEach && fit.isOpen(rule); probe += 1) {
      const [first, second] = fit.alive(rule)
      const found = await differing(
        records.measure,
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
  measure: GroupMeasure,
  left: MetricDefinition,
  right: MetricDefinition,
): Promise<OurGroup | undefined> {
  const measured = await measure({ metric: 'timeToFill', groupings }, [left, right])
  const [mine, others] = measured as [OurGroup[], OurGroup[]]
  const byKey = new Map(others.map(group => [nameOf(group), group]))
  return mine.find(group => {
    const other = byKey.get(nameOf(group))
    return other && JSON.stringify(other.figures) !== JSON.stringify(group.figures)
  })
}

const nameOf = ({ groupBy, groupKey }: OurGroup): string => `${groupBy}:${groupKey}`
