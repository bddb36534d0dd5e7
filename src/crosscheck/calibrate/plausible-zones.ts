/** Finds zones in which acceptances fall into the service's months and weeks, so that SQL need try only few. */
import { acceptancesOf, type ComparedRequisition } from '../explain/requisitions.ts'
import { candidates, type MetricDefinition } from '../metrics/definition.ts'
import { keysOf, type PartyNames } from '../metrics/group-keys.ts'
import { firstOfWeek, localDay } from '../metrics/periods.ts'
import type { MetricAnswer } from '../metrics/their-metrics.ts'
import type { Zones } from './zones.ts'

export interface ZoneEvidence {
  readonly definition: MetricDefinition
  readonly names: PartyNames
  readonly zones: Zones
  readonly requisitions: readonly ComparedRequisition[]
  readonly answers: readonly MetricAnswer[]
}

type ZoneCounts = ReadonlyMap<string, number>
type WeekStart = MetricDefinition['weekStart']

/** A record may spoil this many groups by chance, so zones this close to the best one stay possible. */
const spoiled = 2

function counted(keys: readonly string[]): ZoneCounts {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Number of groups that agree, less the groups that only we have. */
function agreement(ours: ZoneCounts, theirs: ZoneCounts): number {
  let agree = 0
  for (const [key, count] of theirs) if (ours.get(key) === count) agree += 1
  for (const key of ours.keys()) if (!theirs.has(key)) agree -= 1
  return agree
}

/** The service's counts by month or week, under our names of them. */
function shown(
  { answers, names, definition }: ZoneEvidence,
  key: 'month' | 'week',
  weekStart: WeekStart,
): ZoneCounts {
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

export function plausibleZones(evidence: ZoneEvidence): readonly string[] {
  const { definition, zones, requisitions } = evidence
  const times = requisitions.flatMap(one => acceptancesOf(one, definition, {})).map(({ at }) => at)
  const starts = candidates.weekStart.map(start => ({ start, weeks: shown(evidence, 'week', start) }))
  const months = shown(evidence, 'month', 'monday')
  if (times.length === 0 || months.size === 0) return zones.known
  const score = (zone: string): number => {
    const days = times.map(at => localDay(at, zone))
    const byWeek = starts.map(({ start, weeks }) =>
      agreement(counted(days.map(day => firstOfWeek(day, start))), weeks),
    )
    return Math.max(...byWeek) + agreement(counted(days.map(day => day.slice(0, 7))), months)
  }
  const sameAs = (zone: string): string => zones.sameAs(zone, 'timeToFill')
  const scores = new Map([...new Set(zones.known.map(sameAs))].map(zone => [zone, score(zone)] as const))
  const minScore = Math.max(...scores.values()) - spoiled
  return zones.known.filter(zone => (scores.get(sameAs(zone)) as number) >= minScore)
}
