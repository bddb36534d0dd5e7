/** Whether one other reading of one rule would make the differences vanish: tried on the answers at hand, without a request. */
import { candidates, type MetricDefinition, type Rule } from '../definition.ts'
import type { Finding } from '../explain/finding.ts'
import { figureNames, type Metric } from '../metric-query.ts'
import type { Evidence } from './evidence.ts'

/** Rules that change figures and of which the service says nothing; shapes of keys change none. */
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

/** Of the figures that differ: fewer than this left over, and the reading is to blame rather than some records. */
const leftOver = 0.1

export interface Doubt {
  readonly finding: Finding
  /** The definition with the other reading. */
  readonly definition: MetricDefinition
  /** Whether no figure differs under it. */
  readonly isWhole: boolean
}

/** Every quantile of time to fill is of one method in most services: both are turned together too. */
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
  evidence: Evidence,
  definition: MetricDefinition,
  metric: Metric,
): Promise<Doubt | undefined> {
  const aspect = { metric, figures: figureNames[metric], isLoose: true }
  const readings = others(definition, metric)
  const [own, ...scores] = await evidence.scores([definition, ...readings.map(([, other]) => other)], aspect)
  if (!own || own.agree >= own.of) return undefined
  const open = own.of - own.agree
  const best = scores
    .map((score, index) => ({ left: score.of - score.agree, index }))
    .sort((left, right) => left.left - right.left)[0]
  const reading = best && readings[best.index]
  if (!reading || best.left > open * leftOver) return undefined
  const [words, other] = reading
  const sentence = `definition: ${words} would agree; run muster crosscheck --calibrate`
  const finding: Finding = { metric, kind: 'definition', record: undefined, sentence, cell: {}, effect: null }
  return { finding, definition: other, isWhole: best.left === 0 }
}
