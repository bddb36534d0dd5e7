/** Finds the interpretations of rules under which our figures equal the service's, by trying each that is still possible. */
import {
  candidates,
  type DefinitionRule,
  definitionDefaults,
  type MetricDefinition,
} from '../metrics/definition.ts'
import type { AnswerSet, Aspect, Score } from './answer-set.ts'

export type Interpretations = readonly unknown[]

export interface RuleState {
  /** Interpretations that no answer contradicts, the default first where it is one of them. */
  readonly alive: Interpretations
  readonly state: 'found' | 'indistinguishable' | 'none fits' | 'untested' | 'stated'
  /** Figures that agreed and were compared under each interpretation tried, by the interpretation as JSON. */
  readonly scores: Readonly<Record<string, Score>>
}

/** Min share of agreeing figures to accept an interpretation, unless records unknown here explain the rest. */
const minAgreement = 0.5

export class Fit {
  readonly #answerSet: AnswerSet
  #definition: MetricDefinition
  readonly rules = new Map<DefinitionRule, RuleState>()

  constructor(answerSet: AnswerSet, definition: MetricDefinition = definitionDefaults) {
    this.#answerSet = answerSet
    this.#definition = definition
  }

  get definition(): MetricDefinition {
    return this.#definition
  }

  /** The service states the interpretation itself. */
  acceptStated<Name extends DefinitionRule>(rule: Name, value: MetricDefinition[Name]): void {
    this.#definition = { ...this.#definition, [rule]: value }
    this.rules.set(rule, { alive: [value], state: 'stated', scores: {} })
  }

  /** Keeps only these interpretations of a rule for the next steps. */
  restrict<Name extends DefinitionRule>(rule: Name, alive: readonly MetricDefinition[Name][]): void {
    this.rules.set(rule, { alive, state: 'untested', scores: {} })
    this.#definition = { ...this.#definition, [rule]: alive[0] }
  }

  alive(rule: DefinitionRule): Interpretations {
    return this.rules.get(rule)?.alive ?? (rule === 'companies' ? [null] : candidates[rule])
  }

  /** Makes every interpretation of a rule possible again, now that others are known. */
  reopen(rule: Exclude<DefinitionRule, 'companies'>): void {
    const known = this.rules.get(rule)
    if (known && known.state !== 'untested') this.rules.set(rule, { ...known, alive: candidates[rule] })
  }

  /** Takes another fit's result for a rule, or restores an earlier state. */
  put(rule: DefinitionRule, state: RuleState): void {
    this.rules.set(rule, state)
    this.#definition = { ...this.#definition, [rule]: state.alive[0] }
  }

  /** Starts from the same state; its results do not affect this fit. */
  copy(): Fit {
    const copy = new Fit(this.#answerSet, this.#definition)
    for (const [rule, state] of this.rules) copy.rules.set(rule, state)
    return copy
  }

  isOpen(rule: DefinitionRule): boolean {
    return this.alive(rule).length > 1
  }

  /** Tries every combination that is still possible and keeps the best; the first of those, by defaults, is chosen. */
  async try(rules: readonly DefinitionRule[], aspect: Aspect): Promise<void> {
    const combinations = product(rules.map(rule => this.alive(rule)))
    const definitions = combinations.map(values => this.#with(rules, values))
    const scores = await this.#answerSet.scores(definitions, aspect)
    const tried = combinations.map((values, index) => ({ values, score: scores[index] as Score }))
    const maxAgree = Math.max(...tried.map(({ score }) => score.agree))
    const best = tried.filter(({ score }) => score.agree === maxAgree)
    const [first] = best
    if (!first || first.score.of === 0) return
    const fits = maxAgree >= minAgreement * first.score.of || first.score.excess === 0
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

  #with(rules: readonly DefinitionRule[], values: readonly unknown[]): MetricDefinition {
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
