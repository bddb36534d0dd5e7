/** Finds the readings of rules under which our figures are the service's: by trying each that is still possible. */
import { candidates, definitionDefaults, type MetricDefinition, type Rule } from '../definition.ts'
import type { Aspect, Evidence, Score } from './evidence.ts'

export type Readings = readonly unknown[]

export interface RuleState {
  /** Readings that nothing speaks against, the default first where it is one of them. */
  readonly alive: Readings
  readonly state: 'found' | 'indistinguishable' | 'none fits' | 'untested' | 'told'
  /** Figures that agreed and were compared under each reading tried, by the reading as JSON. */
  readonly scores: Readonly<Record<string, Score>>
}

/** Below this share of agreeing figures no reading explains the answers, and none is believed. */
const believable = 0.5

export class Fit {
  readonly #evidence: Evidence
  #definition: MetricDefinition
  readonly rules = new Map<Rule, RuleState>()

  constructor(evidence: Evidence, definition: MetricDefinition = definitionDefaults) {
    this.#evidence = evidence
    this.#definition = definition
  }

  get definition(): MetricDefinition {
    return this.#definition
  }

  /** What the service said in so many words. */
  told<Name extends Rule>(rule: Name, value: MetricDefinition[Name]): void {
    this.#definition = { ...this.#definition, [rule]: value }
    this.rules.set(rule, { alive: [value], state: 'told', scores: {} })
  }

  /** Keeps only these readings of a rule for what is tried next. */
  restrict<Name extends Rule>(rule: Name, alive: readonly MetricDefinition[Name][]): void {
    this.rules.set(rule, { alive, state: 'untested', scores: {} })
    this.#definition = { ...this.#definition, [rule]: alive[0] }
  }

  alive(rule: Rule): Readings {
    return this.rules.get(rule)?.alive ?? (rule === 'companies' ? [null] : candidates[rule])
  }

  isOpen(rule: Rule): boolean {
    return this.alive(rule).length > 1
  }

  /** Tries every combination of what is still possible. Keeps the best; the first of them, by defaults, is chosen. */
  async try(rules: readonly Rule[], aspect: Aspect): Promise<void> {
    const combinations = product(rules.map(rule => this.alive(rule)))
    const definitions = combinations.map(values => this.#with(rules, values))
    const scores = await this.#evidence.scores(definitions, aspect)
    const tried = combinations.map((values, index) => ({ values, score: scores[index] as Score }))
    const most = Math.max(...tried.map(({ score }) => score.agree))
    const best = tried.filter(({ score }) => score.agree === most)
    const [first] = best
    if (!first || first.score.of === 0) return
    const fits = most >= believable * first.score.of
    for (const [index, rule] of rules.entries()) {
      const byReading = Object.fromEntries(
        [...tried]
          .sort((left, right) => left.score.agree - right.score.agree)
          .map(({ values, score }) => [JSON.stringify(values[index]), score]),
      )
      const alive = fits ? distinct(best.map(({ values }) => values[index])) : this.alive(rule)
      const state = !fits ? 'none fits' : alive.length === 1 ? 'found' : 'indistinguishable'
      this.rules.set(rule, { alive, state, scores: { ...this.rules.get(rule)?.scores, ...byReading } })
    }
    if (fits) this.#definition = this.#with(rules, first.values)
  }

  #with(rules: readonly Rule[], values: readonly unknown[]): MetricDefinition {
    return {
      ...this.#definition,
      ...Object.fromEntries(rules.map((rule, index) => [rule, values[index]])),
    }
  }
}

function product(lists: readonly Readings[]): unknown[][] {
  return lists.reduce<unknown[][]>(
    (rows, list) => rows.flatMap(row => list.map(value => [...row, value])),
    [[]],
  )
}

function distinct(values: Readings): unknown[] {
  return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
}
