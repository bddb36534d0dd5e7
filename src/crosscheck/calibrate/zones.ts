/** Lists candidate time zones for where days begin. Zones that give all our records the same days count as one. */
import { createHash } from 'node:crypto'
import { dayMs, minuteMs } from '../../lib/dates.ts'
import { offsetName, shiftOf } from '../../lib/zones.ts'
import { timeZones } from '../../warehouse/catalogue.ts'
import { allZones } from '../metrics/definition.ts'
import type { MetricName } from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'

const isOffset = (zone: string): boolean => /^[+-]/.test(zone)

/** Offsets by the minute around those given, for a service without a named zone. Empty when a named zone fits. */
export function nearOffsets(zones: readonly unknown[]): string[] {
  if (!zones.every(zone => isOffset(String(zone)))) return []
  const minutes = zones.map(zone => shiftOf(String(zone))(0) / minuteMs)
  const [from, to] = [Math.min(...minutes) - 14, Math.max(...minutes) + 14]
  const by = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  // Quarters of an hour first.
  return by.sort((left, right) => Number(left % 15 !== 0) - Number(right % 15 !== 0)).map(offsetName)
}

/** More timestamps cost time without adding evidence. */
const maxMoments = 50_000

const sources: Readonly<Record<MetricName, string>> = {
  timeToFill: `select accepted_at as moment_at from star.fact_requisition_agency where accepted_at is not null
    union select approved_at from star.fact_requisition where approved_at is not null`,
  workersOverHours: `select distinct week_ending_at as moment_at from star.fact_timesheet where week_ending_at is not null`,
}

export async function readTimes(engine: MetricReader, source: string, max = maxMoments): Promise<number[]> {
  const rows = await engine.rows<{ epoch_ms: number }>(
    `select distinct cast(extract(epoch from moment_at) * 1000 as bigint) as epoch_ms from (${source}) as moment
     order by epoch_ms desc nulls last limit ${max}`,
  )
  return rows.map(row => Number(row.epoch_ms))
}

/** No zone changes its clocks twice within these days. */
const steadyMs = 14 * dayMs

/** The local day in a zone less the UTC day: -1, 0 or 1 for each timestamp. */
function daysShown(zone: string, times: readonly number[]): string {
  const shift = shiftOf(zone)
  const ofSpan = new Map<number, number | undefined>()
  const days = Buffer.alloc(times.length)
  for (const [index, at] of times.entries()) {
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

/** Timestamps of the records of each metric. */
export type MetricTimes = Readonly<Record<MetricName, readonly number[]>>

/** Reads the zones that the database knows. */
export async function readZones(engine: MetricReader): Promise<Zones> {
  const names = await timeZones(engine)
  const known = allZones.filter(zone => isOffset(zone) || names.has(zone))
  return new Zones(known, {
    timeToFill: await readTimes(engine, sources.timeToFill),
    workersOverHours: await readTimes(engine, sources.workersOverHours),
  })
}

export class Zones {
  readonly known: readonly string[]
  readonly #times: MetricTimes
  readonly #shown = new Map<string, string>()
  #first: ReadonlyMap<string, string> | undefined

  constructor(known: readonly string[], times: MetricTimes) {
    this.known = known
    this.#times = times
  }

  /** The first zone that shows the same days for the records of a metric, or of both. */
  sameAs(zone: string, metric?: MetricName): string {
    this.#first ??= this.#firstZones()
    return this.#first.get(this.#nameOf(zone, metric)) ?? zone
  }

  /** By the days that they show. */
  #firstZones(): ReadonlyMap<string, string> {
    const lastFirst = this.known.toReversed()
    return new Map(
      (['timeToFill', 'workersOverHours', undefined] as const).flatMap(metric =>
        lastFirst.map(zone => [this.#nameOf(zone, metric), zone] as const),
      ),
    )
  }

  #nameOf(zone: string, metric: MetricName | undefined): string {
    return `${metric} ${this.#daysOf(zone, metric)}`
  }

  #daysOf(zone: string, metric?: MetricName): string {
    if (metric === undefined)
      return `${this.#daysOf(zone, 'timeToFill')} ${this.#daysOf(zone, 'workersOverHours')}`
    const name = `${metric} ${zone}`
    const known = this.#shown.get(name) ?? daysShown(zone, this.#times[metric])
    this.#shown.set(name, known)
    return known
  }
}
