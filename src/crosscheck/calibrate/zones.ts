/** Time zones as candidates for where days begin. Zones whose clocks show the same days for all our records are one. */
import { createHash } from 'node:crypto'
import { dayMs, minuteMs } from '../../lib/dates.ts'
import { offsetName, shiftOf } from '../../lib/zones.ts'
import type { Metric } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import { allZones } from '../metrics/zone-names.ts'

const isOffset = (zone: string): boolean => /^[+-]/.test(zone)

/** Offsets by the minute around others: for a service that uses one that no zone has. Empty when a zone will do. */
export function nearOffsets(zones: readonly unknown[]): string[] {
  if (zones.length === 0 || !zones.every(zone => isOffset(String(zone)))) return []
  const minutes = zones.map(zone => shiftOf(String(zone))(0) / minuteMs)
  const [from, to] = [Math.min(...minutes) - 14, Math.max(...minutes) + 14]
  const by = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  // Quarters of an hour first.
  return by.sort((left, right) => Number(left % 15 !== 0) - Number(right % 15 !== 0)).map(offsetName)
}

/** More would take longer than they tell. */
const mostMoments = 50_000

const sources: Readonly<Record<Metric, string>> = {
  timeToFill: `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null
    union select approved_at from star.fact_requisition where approved_at is not null`,
  workersOverHours: `select distinct week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null`,
}

export async function momentsOf(engine: MetricReader, source: string, most = mostMoments): Promise<number[]> {
  const rows = await engine.rows<{ epoch_ms: number }>(
    `select distinct cast(extract(epoch from moment_at) * 1000 as bigint) as epoch_ms from (${source}) as moment
     order by epoch_ms desc nulls last limit ${most}`,
  )
  return rows.map(row => Number(row.epoch_ms))
}

/** No zone changes its clocks twice within these days. */
const steadyMs = 14 * dayMs

/** The days that the clocks of a zone show, less those of UTC: -1, 0 or 1 for each moment. */
function daysShown(zone: string, moments: readonly number[]): string {
  const shift = shiftOf(zone)
  const ofSpan = new Map<number, number | undefined>()
  const days = Buffer.alloc(moments.length)
  for (const [index, at] of moments.entries()) {
    const span = Math.floor(at / steadyMs)
    if (!ofSpan.has(span)) {
      const [from, to] = [shift(span * steadyMs), shift((span + 1) * steadyMs)]
      ofSpan.set(span, from === to ? from : undefined)
    }
    const local = at + (ofSpan.get(span) ?? shift(at))
    days[index] = 1 + Math.floor(local / dayMs) - Math.floor(at / dayMs)
  }
  return createHash('md5').update(days).digest('hex')
}

/** Of the records of each metric. */
export type Moments = Readonly<Record<Metric, readonly number[]>>

/** Those that the database knows. */
export async function readZones(engine: MetricReader): Promise<Zones> {
  const rows = await engine.rows<{ name: string }>('select name from pg_timezone_names()')
  const names = new Set(rows.map(({ name }) => name))
  const known = allZones.filter(zone => isOffset(zone) || names.has(zone))
  return new Zones(known, {
    timeToFill: await momentsOf(engine, sources.timeToFill),
    workersOverHours: await momentsOf(engine, sources.workersOverHours),
  })
}

export class Zones {
  readonly known: readonly string[]
  readonly #moments: Moments
  readonly #shown = new Map<string, string>()
  readonly #first = new Map<string, string>()

  constructor(known: readonly string[], moments: Moments) {
    this.known = known
    this.#moments = moments
  }

  /** The first zone that shows the same days for the records of a metric, or of both. */
  sameAs(zone: string, metric?: Metric): string {
    const name = (one: string): string => `${metric ?? 'both'} ${this.#daysOf(one, metric)}`
    if (this.#first.size === 0) this.#readFirst()
    return this.#first.get(name(zone)) ?? zone
  }

  #readFirst(): void {
    for (const metric of ['timeToFill', 'workersOverHours', undefined] as const)
      for (const zone of this.known) {
        const name = `${metric ?? 'both'} ${this.#daysOf(zone, metric)}`
        if (!this.#first.has(name)) this.#first.set(name, zone)
      }
  }

  #daysOf(zone: string, metric?: Metric): string {
    if (metric === undefined)
      return `${this.#daysOf(zone, 'timeToFill')} ${this.#daysOf(zone, 'workersOverHours')}`
    const name = `${metric} ${zone}`
    const known = this.#shown.get(name) ?? daysShown(zone, this.#moments[metric])
    this.#shown.set(name, known)
    return known
  }
}
