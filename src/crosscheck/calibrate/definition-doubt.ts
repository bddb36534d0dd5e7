/** Whether another interpretation of one rule would remove the differences; tried on the answers at hand, without a request. */

import type { Finding } from '../explain/finding.ts'
import {
  candidates,
  type DefinitionInForce,
  isPossible,
  type MetricDefinition,
  type Rule,
} from '../metrics/definition.ts'
import { figureNames, type Metric } from '../metrics/metric-query.ts'
import type { AnswerSet } from './answer-set.ts'

/** Rules that change figures and that no answer shows directly; shapes of keys change no figure. */
const doubted = {
  timeToFill: [
    'quantiles',
    'valueQuantiles',
    'days',
    'negativeDays',
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
  /** One that calibration had excluded explains nothing: records were lost instead. */
  readonly finding: Finding
  /** The definition with the other interpretation. */
  readonly definition: MetricDefinition
  /** Whether no figure differs under it. */
  readonly isWhole: boolean
}

interface Interpretation {
  readonly words: string
  readonly definition: MetricDefinition
  readonly isPossible: boolean
}

function others(inForce: DefinitionInForce, metric: Metric, { zones }: AnswerSet): readonly Interpretation[] {
  const { definition } = inForce
  const one = doubted[metric].flatMap(rule =>
    (rule === 'zone' ? zones.known : candidates[rule])
      .filter(value => JSON.stringify(value) !== JSON.stringify(definition[rule]))
      .map(value => ({
        words: `${rule} ${String(value)} instead of ${String(definition[rule])}`,
        definition: { ...definition, [rule]: value },
        isPossible: isPossible(inForce, rule, value),
      })),
  )
  return metric === 'workersOverHours' ? one : [...one, ...bothQuantiles(inForce)]
}

/** Most services use one method for all quantiles, so both rules are also changed together. */
function bothQuantiles(inForce: DefinitionInForce): readonly Interpretation[] {
  const { definition } = inForce
  return candidates.quantiles
    .filter(value => value !== definition.quantiles)
    .map(value => ({
      words: `quantiles ${value} instead of ${definition.quantiles}`,
      definition: { ...definition, quantiles: value, valueQuantiles: value },
      isPossible: isPossible(inForce, 'quantiles', value) && isPossible(inForce, 'valueQuantiles', value),
    }))
}

/** Of the interpretations that calibration left possible, or of those that it excluded. */
export async function doubt(
  answerSet: AnswerSet,
  inForce: DefinitionInForce,
  { metric, which }: { readonly metric: Metric; readonly which: 'possible' | 'excluded' },
): Promise<Doubt | undefined> {
  const aspect = { metric, figures: figureNames[metric], isLoose: true }
  const interpretations = others(inForce, metric, answerSet).filter(
    one => one.isPossible === (which === 'possible'),
  )
  const [own, ...scores] = await answerSet.scores(
    [inForce.definition, ...interpretations.map(({ definition }) => definition)],
    aspect,
  )
  if (!own || own.agree >= own.of) return undefined
  const open = own.of - own.agree
  const best = scores
    .map((score, index) => ({ left: score.of - score.agree, other: interpretations[index] }))
    .filter(({ left }) => left <= open * leftOver)
    .sort((one, two) => one.left - two.left)[0]
  if (!best?.other) return undefined
  const { words, definition, isPossible } = best.other
  return { finding: findingOf(words, metric, isPossible), definition, isWhole: best.left === 0 }
}

/** It concerns every group. */
function findingOf(words: string, metric: Metric, isPossible: boolean): Finding {
  const but = isPossible ? '' : ', but calibration had excluded it: records may be missing'
  return {
    ...{ metric, kind: isPossible ? 'definition' : 'unknown', record: undefined },
    sentence: `definition: ${words} would agree${but}; run muster crosscheck --calibrate`,
    ...{ ours: [], theirs: [{ keys: {}, amount: 0 }] },
  }
}
