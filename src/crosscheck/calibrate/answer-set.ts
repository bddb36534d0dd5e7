/** Collects answers of the service and scores how well a definition explains them. */

import { compare } from '../compare.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { PartyNames } from '../metrics/group-keys.ts'
import {
  groupingName,
  type MetricFigures,
  type MetricName,
  type MetricQuery,
  sizeOf,
  tolerance,
} from '../metrics/metric-query.ts'
import { definitionColumns, type GroupMeasure, type OurGroup } from '../metrics/our-metrics.ts'
import type { GroupingQuery, MetricAnswer } from '../metrics/their-metrics.ts'
import type { Zones } from './zones.ts'

/** Figures and groups that a rule affects. */
export interface Aspect {
  readonly figures: readonly string[]
  readonly metric?: MetricName
  /** Names of groupings; all when left out. */
  readonly groupings?: readonly string[]
  readonly where?: (theirs: MetricFigures) => boolean
  /** Only answers from this index, so that earlier answers do not outvote a probe. */
  readonly since?: number
  /** Only groups with as many records as the service counts: other groups show nothing about a rule. */
  readonly onlyEqualCounts?: boolean
  /** Figures agree within the tolerance of the crosscheck, rather than exactly. */
  readonly isLoose?: boolean
}

export interface Score {
  /** Figures that agree, less the groups that only we have. */
  readonly agree: number
  readonly of: number
  /** Groups in which we count more records than the service: records unknown here cannot be the reason. */
  readonly excess: number
}

/** Max difference between two computations of one figure, as additions in another order round differently. */
const sameFigure = 1e-6

function isSame(
  name: string,
  [mine, theirs]: readonly [MetricFigures, MetricFigures],
  isLoose: boolean | undefined,
): boolean {
  const [left, right] = [mine[name] ?? null, theirs[name] ?? null]
  if (left === null || right === null) return left === right
  return Math.abs(left - right) <= sameFigure + (isLoose ? tolerance(name) : 0)
}

const rangeOf = ({ metric, threshold, from, to, company, project, agency }: GroupingQuery): string =>
  JSON.stringify([metric, threshold, from, to, company, project, agency])

/** Definitions per statement; each returns some thousand rows in a large warehouse. */
const together = 24

/** Our side of the answers. */
export interface MeasuredSide {
  readonly measure: GroupMeasure
  readonly names: PartyNames
  readonly zones: Zones
}

export class AnswerSet {
  readonly answers: MetricAnswer[] = []
  readonly zones: Zones
  readonly #measure: GroupMeasure
  readonly #names: PartyNames
  readonly #computed = new Map<string, readonly OurGroup[]>()

  constructor({ measure, names, zones }: MeasuredSide) {
    this.#measure = measure
    this.#names = names
    this.zones = zones
  }

  add(answer: MetricAnswer): void {
    this.answers.push(answer)
  }

  /** One score for each definition. */
  async scores(definitions: readonly MetricDefinition[], aspect: Aspect): Promise<Score[]> {
    const answers = this.answers.filter(
      (answer, index) => index >= (aspect.since ?? 0) && concerns(answer, aspect),
    )
    const asked = answers.map(answer => ({ answer, query: queryOf(answer, answers) }))
    const names = definitions.map(({ zone, ...rest }) =>
      JSON.stringify([rest, this.zones.sameAs(zone, aspect.metric)]),
    )
    const distinct = new Map(definitions.map((definition, index) => [names[index], definition] as const))
    const queries = new Map(asked.map(({ query }) => [JSON.stringify(query), query]))
    for (const query of queries.values()) await this.#compute(query, [...distinct.values()])
    const scores = new Map(
      [...distinct].map(([name, definition]) => [name, this.#score(definition, asked, aspect)] as const),
    )
    return names.map(name => scores.get(name) as Score)
  }

  /** Zones that show the same days for the records of the metric are computed once. */
  #keyOf(query: MetricQuery, definition: MetricDefinition): string {
    return keyOf(query, { ...definition, zone: this.zones.sameAs(definition.zone, query.metric) })
  }

  #score(definition: MetricDefinition, asked: readonly AskedAnswer[], aspect: Aspect): Score {
    let agree = 0
    let of = 0
    let excess = 0
    for (const { answer, query } of asked) {
      const ours = this.#computed.get(this.#keyOf(query, definition)) as readonly OurGroup[]
      const compared = compare(ours, answer, { definition, names: this.#names })
      for (const { ours: mine, theirs } of compared) {
        const [here, there] = [sizeOf(mine), sizeOf(theirs)]
        if (here > there) excess += 1
        if (!theirs) agree -= 1
        if (!theirs || (aspect.where && !aspect.where(theirs))) continue
        if (aspect.onlyEqualCounts && here !== there) continue
        of += aspect.figures.length
        agree += mine ? aspect.figures.filter(name => isSame(name, [mine, theirs], aspect.isLoose)).length : 0
      }
      // An answer without groups counts too.
      if (answer.groups.length === 0) of += 1
      if (compared.length === 0) agree += 1
    }
    return { agree, of, excess }
  }

  async #compute(query: MetricQuery, definitions: readonly MetricDefinition[]): Promise<void> {
    const byKey = new Map(
      definitions.map(definition => [this.#keyOf(query, definition), definition] as const),
    )
    const missing = [...byKey].filter(([key]) => !this.#computed.has(key))
    for (let from = 0; from < missing.length; from += together) {
      const some = missing.slice(from, from + together)
      const groups = await this.#measure(
        query,
        some.map(([, definition]) => definition),
      )
      for (const [index, [key]] of some.entries()) this.#computed.set(key, groups[index] as OurGroup[])
    }
  }
}

interface AskedAnswer {
  readonly answer: MetricAnswer
  readonly query: MetricQuery
}

/** All groupings of these answers for the range of one of them, as one statement. */
function queryOf({ query }: MetricAnswer, answers: readonly MetricAnswer[]): MetricQuery {
  const range = rangeOf(query)
  const same = answers.filter(other => rangeOf(other.query) === range)
  const groupings = new Map(same.map(other => [groupingName(other.query.grouping), other.query.grouping]))
  const { grouping: _, ...rest } = query
  return { ...rest, groupings: [...groupings.values()] }
}

/** Equal for definitions that differ only in columns that the query does not read. */
const keyOf = (query: MetricQuery, definition: MetricDefinition): string =>
  JSON.stringify([
    query,
    definitionColumns(definition, query.metric),
    query.from && definition.from,
    query.to && definition.to,
  ])

function concerns({ query }: MetricAnswer, { metric, groupings }: Aspect): boolean {
  if (metric !== undefined && query.metric !== metric) return false
  return groupings === undefined || groupings.includes(groupingName(query.grouping))
}
