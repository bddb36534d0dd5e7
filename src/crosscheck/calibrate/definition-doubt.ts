/** Tries whether another interpretation of one rule removes the differences, on the answers at hand, without a request. */

import type { CrosscheckFinding } from '../explain/finding.ts'
import {
  candidates,
  type DefinitionInForce,
  type DefinitionRule,
  isPossible,
  type MetricDefinition,
} from '../metrics/definition.ts'
import { figureNames, type MetricName } from '../metrics/metric-query.ts'
import type { AnswerSet } from './answer-set.ts'

/** Rules that change figures and that no answer shows directly; shapes of keys change no figure. */
const doubtableRules = {
  timeToFill: [
    'quantiles',
    'valueQuantiles',
    'days',
    'negativeDays',
    'acceptance',
    'bounds',
    'minForRule',
    'requisitionStatuses',
    'zone',
    'weekStart',
    'daysDecimals',
  ],
  workersOverHours: ['timesheetStatuses', 'workerWeek', 'threshold', 'zone', 'weekStart', 'hoursDecimals'],
} as const satisfies Readonly<Record<MetricName, readonly Exclude<DefinitionRule, 'companies'>[]>>

/** When less than this share of the differences remains, the interpretation is the cause, not some records. */
const leftOver = 0.1

export interface Doubt {
  /** An interpretation that calibration had excluded explains nothing: records were lost instead. */
  readonly finding: CrosscheckFinding
  /** The definition with the other interpretation. */
  readonly definition: MetricDefinition
  /** Whether no figure differs under it. */
  readonly explainsAll: boolean
}

interface Interpretation {
  readonly words: string
  readonly definition: MetricDefinition
  readonly isPossible: boolean
}

function others(
  inForce: DefinitionInForce,
  metric: MetricName,
  { zones }: AnswerSet,
): readonly Interpretation[] {
  const { definition } = inForce
  const one = doubtableRules[metric].flatMap(rule =>
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

/** Tries the interpretations that calibration left possible, or those that it excluded. */
export async function doubt(
  answerSet: AnswerSet,
  inForce: DefinitionInForce,
  { metric, which }: { readonly metric: MetricName; readonly which: 'possible' | 'excluded' },
): Promise<Doubt | undefined> {
  const aspect = { metric, figures: figureNames[metric], isLoose: true }
  const interpretations = others(inForce, metric, answerSet).filter(
    one => one.isPossible === (which === 'possible'),
  )
  const scores = await answerSet.scores(
    [inForce.definition, ...interpretations.map(({ definition }) => definition)],
    aspect,
  )
  const [open, ...lefts] = scores.map(({ of, agree }) => of - agree) as [number, ...number[]]
  const best = interpretations
    .map((one, index) => ({ ...one, left: lefts[index] as number }))
    .filter(({ left }) => left <= open * leftOver)
    .sort((one, two) => one.left - two.left)[0]
  if (!best || open <= 0) return undefined
  const { words, definition, isPossible, left } = best
  return { finding: findingOf(words, metric, isPossible), definition, explainsAll: left === 0 }
}

/** It concerns every group. */
function findingOf(words: string, metric: MetricName, isPossible: boolean): CrosscheckFinding {
  const but = isPossible ? '' : ', but calibration had excluded it: records may be missing'
  return {
    ...{ metric, kind: isPossible ? 'definition' : 'unknown', record: undefined },
    sentence: `definition: ${words} would agree${but}; run muster crosscheck --calibrate`,
    ...{ ours: [], theirs: [{ keys: {}, amount: 0 }] },
  }
}
