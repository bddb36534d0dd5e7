/** Whether another interpretation of one rule would remove the differences; tried on the answers at hand, without a request. */

import type { Finding } from '../explain/finding.ts'
import { candidates, type MetricDefinition, type Rule } from '../metrics/definition.ts'
import { figureNames, type Metric } from '../metrics/metric-query.ts'
import type { AnswerSet } from './answer-set.ts'

/** Rules that change figures and that no answer shows directly; shapes of keys change no figure. */
const doubted = {
  timeToFill: [
    'quantiles',
    'valueQuantiles',
    'days',
    'acceptance',
    'bounds',
    'leastForRule',
    'requisitionStatuses',
    'zone',
    'weekStart',
    'daysDecimals',
  ],
  workersOverHours: ['timesheetStatuses', 'workerWeek', 'threshold', 'zone', 'weekStart', 'hoursDecimals'],
} as const satisfies Readonly<Record<Metric, readonly Exclude<Rule, 'companies'>[]>>

/** When fewer than this share of the differences is left, the interpretation is the cause rather than some records. */
const leftOver = 0.1

export interface Doubt {
  readonly finding: Finding
  /** The definition with the other interpretation. */
  readonly definition: MetricDefinition
  /** Whether no figure differs under it. */
  readonly isWhole: boolean
}

/** Most services use one method for all quantiles, so both rules are also changed together. */
function others(definition: MetricDefinition, metric: Metric): readonly [string, MetricDefinition][] {
  const one = doubted[metric].flatMap(rule =>
    candidates[rule]
      .filter(value => JSON.stringify(value) !== JSON.stringify(definition[rule]))
      .map((value): [string, MetricDefinition] => [
        `${rule} ${String(value)} instead of ${String(definition[rule])}`,
        { ...definition, [rule]: value },
      ]),
  )
  if (metric === 'workersOverHours') return one
  const both = candidates.quantiles
    .filter(value => value !== definition.quantiles)
    .map((value): [string, MetricDefinition] => [
      `quantiles ${value} instead of ${definition.quantiles}`,
      { ...definition, quantiles: value, valueQuantiles: value },
    ])
  return [...one, ...both]
}

export async function doubt(
  answerSet: AnswerSet,
  definition: MetricDefinition,
  metric: Metric,
): Promise<Doubt | undefined> {
  const aspect = { metric, figures: figureNames[metric], isLoose: true }
  const interpretations = others(definition, metric)
  const [own, ...scores] = await answerSet.scores(
    [definition, ...interpretations.map(([, other]) => other)],
    aspect,
  )
  if (!own || own.agree >= own.of) return undefined
  const open = own.of - own.agree
  const best = scores
    .map((score, index) => ({ left: score.of - score.agree, index }))
    .sort((left, right) => left.left - right.left)[0]
  const interpretation = best && interpretations[best.index]
  if (!interpretation || best.left > open * leftOver) return undefined
  const [words, other] = interpretation
  const sentence = `definition: ${words} would agree; run muster crosscheck --calibrate`
  const finding: Finding = { metric, kind: 'definition', record: undefined, sentence, cell: {}, effect: null }
  return { finding, definition: other, isWhole: best.left === 0 }
}
