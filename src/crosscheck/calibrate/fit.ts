/** Finds the interpretations of rules under which our figures equal the service's, by trying each that is still possible. */
import { candidates, definitionDefaults, type MetricDefinition, type Rule } from '../metrics/definition.ts'
import type { AnswerSet, Aspect, Score } from './answer-set.ts'

export type Interpretations = readonly unknown[]

export interface RuleState {
  /** Interpretations that no answer contradicts, the default first where it is one of them. */
  readonly alive: Interpretations
  readonly state: 'found' | 'indistinguishable' | 'none fits' | 'untested' | 'told'
  /** Figures that agreed and were compared under each interpretation tried, by the interpretation as JSON. */
  readonly scores: Readonly<Record<string, Score>>
}

/** Below this share of agreeing figures no interpretation is accepted, unless records that are unknown here explain the rest. */
const believable = 0.5

export class Fit {
  readonly #answerSet: AnswerSet
  #definition: MetricDefinition
  readonly rules = new Map<Rule, RuleState>()

  constructor(answerSet: AnswerSet, definition: MetricDefinition = definitionDefaults) {
    this.#answerSet = answerSet
    this.#definition = definition
  }

  get definition(): MetricDefinition {
    return this.#definition
  }

  /** The service states the interpretation itself. */
  told<Name extends Rule>(rule: Name, value: MetricDefinition[Name]): void {
    this.#definition = { ...this.#definition, [rule]: value }
    this.rules.set(rule, { alive: [value], state: 'told', scores: {} })
  }

  /** Keeps only these interpretations of a rule for the next steps. */
  restrict<Name extends Rule>(rule: Name, alive: readonly MetricDefinition[Name][]): void {
    this.rules.set(rule, { alive, state: 'untested', scores: {} })
    this.#definition = { ...this.#definition, [rule]: alive[0] }
  }

  alive(rule: Rule): Interpretations {
    return this.rules.get(rule)?.alive ?? (rule === 'companies' ? [null] : candidates[rule])
  }

  /** Takes what another fit found of a rule, or takes it back. */
  put(rule: Rule, state: RuleState): void {
    this.rules.set(rule, state)
    this.#definition = { ...this.#definition, [rule]: state.alive[0] }
  }

  /** With the same state; what it finds is its own. */
  copy(): Fit {
    const copy = new Fit(this.#answerSet, this.#definition)
    for (const [rule, state] of this.rules) copy.rules.set(rule, state)
    return copy
  }

  isOpen(rule: Rule): boolean {
    return this.alive(rule).length > 1
  }

  /** Tries every combination that is still possible and keeps the best; of these the first, by defaults, is chosen. */
  async try(rules: readonly Rule[], aspect: Aspect): Promise<void> {
    const combinations = product(rules.map(rule => this.alive(rule)))
    const definitions = combinations.map(values => this.#with(rules, values))
    const scores = await this.#answerSet.scores(definitions, aspect)
    const tried = combinations.map((values, index) => ({ values, score: scores[index] as Score }))
    const most = Math.max(...tried.map(({ score }) => score.agree))
    const best = tried.filter(({ score }) => score.agree === most)
    const [first] = best
    if (!first || first.score.of === 0) return
    const fits = most >= believable * first.score.of || first.score.excess === 0
    for (const [index, rule] of rules.entries()) {
      const byInterpretation = Object.fromEntries(
        [...tried]
          .sort((left, right) => left.score.agree - right.score.agree)
          .map(({ values, score }) => [JSON.stringify(values[index]), score]),
      )
      const alive = fits ? distinct(best.map(({ values }) => values[index])) : this.alive(rule)
      const state = !fits ? 'none fits' : alive.length === 1 ? 'found' : 'indistinguishable'
      this.rules.set(rule, { alive, state, scores: { ...this.rules.get(rule)?.scores, ...byInterpretation } })
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

function product(lists: readonly Interpretations[]): unknown[][] {
  return lists.reduce<unknown[][]>(
    (rows, list) => rows.flatMap(row => list.map(value => [...row, value])),
    [[]],
  )
}

function distinct(values: Interpretations): unknown[] {
  return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
}
