/** Zones in which acceptances fall into the months and weeks that the service shows: few are left to be tried in SQL. */
import { acceptancesOf, type Requisition } from '../explain/requisition.ts'
import { candidates, type MetricDefinition } from '../metrics/definition.ts'
import { keysOf, type Names } from '../metrics/group-keys.ts'
import { firstOfWeek, localDay } from '../metrics/periods.ts'
import type { MetricAnswer } from '../metrics/their-metrics.ts'
import type { Zones } from './zones.ts'

export interface Evidence {
  readonly definition: MetricDefinition
  readonly names: Names
  readonly zones: Zones
  readonly requisitions: readonly Requisition[]
  readonly answers: readonly MetricAnswer[]
}

type Counts = ReadonlyMap<string, number>
type WeekStart = MetricDefinition['weekStart']

/** Groups that a record may spoil by chance, so that the best zone by a little need not be the right one. */
const spoiled = 2

/** First days of weeks; there are few days and many zones. */
function weekOf(start: WeekStart): (day: string) => string {
  const known = new Map<string, string>()
  return day => {
    const first = known.get(day) ?? firstOfWeek(day, start)
    known.set(day, first)
    return first
  }
}

function counted(keys: readonly string[]): Counts {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Groups that agree, less those that only we have. */
function agreement(ours: Counts, theirs: Counts): number {
  let agree = 0
  for (const [key, count] of theirs) if (ours.get(key) === count) agree += 1
  for (const key of ours.keys()) if (!theirs.has(key)) agree -= 1
  return agree
}

/** What the service counts by month or by week, by our name of it. */
function shown(
  { answers, names, definition }: Evidence,
  key: 'month' | 'week',
  weekStart: WeekStart,
): Counts {
  const groups = answers
    .filter(({ query }) => query.metric === 'timeToFill' && query.grouping.join() === key)
    .flatMap(answer => answer.groups)
  return new Map(
    groups.map(({ group, figures }) => [
      keysOf(group, { names, definition: { ...definition, weekStart } })[key] ?? '',
      figures.rawCount ?? 0,
    ]),
  )
}

export function likelyZones(evidence: Evidence): readonly string[] {
  const { definition, zones, requisitions } = evidence
  const times = requisitions.flatMap(one => acceptancesOf(one, definition, {})).map(({ at }) => at)
  const starts = candidates.weekStart.map(start => ({
    firstDay: weekOf(start),
    weeks: shown(evidence, 'week', start),
  }))
  const months = shown(evidence, 'month', 'monday')
  if (times.length === 0 || months.size === 0) return zones.known
  const score = (zone: string): number => {
    const days = times.map(at => localDay(at, zone))
    const byWeek = starts.map(({ firstDay, weeks }) => agreement(counted(days.map(firstDay)), weeks))
    return Math.max(...byWeek) + agreement(counted(days.map(day => day.slice(0, 7))), months)
  }
  const scores = new Map<string, number>()
  for (const zone of zones.known) {
    const same = zones.sameAs(zone, 'timeToFill')
    if (!scores.has(same)) scores.set(same, score(same))
  }
  const least = Math.max(...scores.values()) - spoiled
  return zones.known.filter(zone => (scores.get(zones.sameAs(zone, 'timeToFill')) ?? -Infinity) >= least)
}
