/** Answers of the service, and how well a definition explains them. */

import { compare } from '../compare.ts'
import type { MetricDefinition } from '../metrics/definition.ts'
import type { Names } from '../metrics/group-keys.ts'
import {
  type Figures,
  groupingName,
  type Metric,
  type MetricQuery,
  tolerance,
} from '../metrics/metric-query.ts'
import type { MetricReader } from '../metrics/our-metrics.ts'
import { definitionColumns, type OurGroup, ourMetricsUnder } from '../metrics/our-metrics.ts'
import type { AskedQuery, MetricAnswer } from '../metrics/their-metrics.ts'

/** Figures and groups that a rule affects. */
export interface Aspect {
  readonly figures: readonly string[]
  readonly metric?: Metric
  /** Names of groupings; all when left out. */
  readonly groupings?: readonly string[]
  readonly where?: (theirs: Figures) => boolean
  /** Only answers from this index on, so that other answers do not outvote a probe. */
  readonly since?: number
  /** Figures agree within the tolerance of the crosscheck, rather than exactly. */
  readonly isLoose?: boolean
}

export interface Score {
  /** Figures that agree, less the groups that only we have. */
  readonly agree: number
  readonly of: number
}

/** The greatest difference between two computations of the same figure, whatever their order of additions. */
const sameFigure = 1e-6

function isSame(name: string, [mine, theirs]: readonly [Figures, Figures], isLoose = false): boolean {
  const [left, right] = [mine[name] ?? null, theirs[name] ?? null]
  if (left === null || right === null) return left === right
  return Math.abs(left - right) <= sameFigure + (isLoose ? tolerance(name) : 0)
}

const rangeOf = ({ metric, threshold, from, to, company, project, agency }: AskedQuery): string =>
  JSON.stringify([metric, threshold, from, to, company, project, agency])

/** Definitions in one statement; a large warehouse has some thousand rows for each of them. */
const together = 24

export class AnswerSet {
  readonly answers: MetricAnswer[] = []
  readonly #engine: MetricReader
  readonly #names: Names
  readonly #computed = new Map<string, readonly OurGroup[]>()

  constructor(engine: MetricReader, names: Names) {
    this.#engine = engine
    this.#names = names
  }

  add(answer: MetricAnswer): void {
    this.answers.push(answer)
  }

  /** One score for each definition. */
  async scores(definitions: readonly MetricDefinition[], aspect: Aspect): Promise<Score[]> {
    const concerned = this.answers.filter(
      (answer, index) => index >= (aspect.since ?? 0) && concerns(answer, aspect),
    )
    for (const query of this.#queries(concerned)) await this.#compute(query, definitions)
    return definitions.map(definition => this.#score(definition, concerned, aspect))
  }

  #score(definition: MetricDefinition, answers: readonly MetricAnswer[], aspect: Aspect): Score {
    let agree = 0
    let of = 0
    for (const answer of answers) {
      const ours = this.#computed.get(keyOf(this.#query(answer), definition)) ?? []
      const compared = compare(ours, answer, { definition, names: this.#names })
      for (const { ours: mine, theirs } of compared) {
        if (!theirs) agree -= 1
        if (!theirs || (aspect.where && !aspect.where(theirs))) continue
        of += aspect.figures.length
        agree += mine ? aspect.figures.filter(name => isSame(name, [mine, theirs], aspect.isLoose)).length : 0
      }
      // An answer without groups counts too.
      if (answer.groups.length === 0) of += 1
      if (compared.length === 0) agree += 1
    }
    return { agree, of }
  }

  /** All groupings requested for the range of an answer, as one statement. */
  #query({ query }: MetricAnswer): MetricQuery {
    const range = rangeOf(query)
    const same = this.answers.filter(other => rangeOf(other.query) === range)
    const groupings = new Map(same.map(other => [groupingName(other.query.grouping), other.query.grouping]))
    const { grouping: _, ...rest } = query
    return { ...rest, groupings: [...groupings.values()] }
  }

  #queries(answers: readonly MetricAnswer[]): MetricQuery[] {
    const queries = answers.map(answer => this.#query(answer))
    return [...new Map(queries.map(query => [JSON.stringify(query), query])).values()]
  }

  async #compute(query: MetricQuery, definitions: readonly MetricDefinition[]): Promise<void> {
    const missing = new Map(definitions.map(definition => [keyOf(query, definition), definition] as const))
    for (const key of missing.keys()) if (this.#computed.has(key)) missing.delete(key)
    const list = [...missing]
    for (let from = 0; from < list.length; from += together) {
      const some = list.slice(from, from + together)
      const groups = await ourMetricsUnder(
        this.#engine,
        query,
        some.map(([, definition]) => definition),
      )
      for (const [index, [key]] of some.entries()) this.#computed.set(key, groups[index] ?? [])
    }
  }
}

/** The same for definitions that differ only in columns which the query does not read. */
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
