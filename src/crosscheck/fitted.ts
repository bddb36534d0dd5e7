/** When a crosscheck calibrates: never on incomplete data, before the first comparison, and when a definition stops explaining. */
import { catalogue } from '../contract/catalogue.ts'
import { BudgetSpent } from '../lib/errors.ts'
import { replaceCrosscheck } from '../state/marts/metrics.ts'
import { type NotWhole, neverRead, notWhole } from '../state/scans/wholeness.ts'
import { type Calibration, calibrate } from './calibrate/calibrate.ts'
import {
  calibratedDefinition,
  readDefinition,
  recordCalibration,
  type StoredDefinition,
} from './calibrate/definition-store.ts'
import {
  type CrosscheckEffects,
  type Crosschecked,
  type CrosscheckRequest,
  crosscheck,
} from './crosscheck.ts'
import type { DefinitionInForce } from './metrics/definition.ts'

/** Records that are refused for good, or in quarantine, do not keep the rest from being calibrated on. */
const wholeEnough = 0.99

const behindMetrics = catalogue.flatMap(({ name, metric }) => (metric === undefined ? [] : [name]))

/** The resources behind the metrics of which records are missing. */
export const incompleteAmong = (found: readonly NotWhole[]): NotWhole[] =>
  found.filter(
    ({ resource, seen, expected }) =>
      behindMetrics.includes(resource) &&
      !(seen !== null && expected !== null && expected > 0 && seen >= wholeEnough * expected),
  )

interface Incomplete {
  readonly resource: string
  readonly reason: string
}

/** What no sync has read is not complete either, as in a warehouse that only a replay has filled. */
export const withUnread = (
  incomplete: readonly Incomplete[],
  unread: readonly string[],
): readonly Incomplete[] => [
  ...incomplete,
  ...unread
    .filter(name => !incomplete.some(({ resource }) => resource === name))
    .map(resource => ({ resource, reason: 'no sync has read it' })),
]

export function requireWhole(incomplete: readonly Incomplete[]): void {
  if (incomplete.length === 0) return
  const named = incomplete.map(({ resource, reason }) => `${resource}: ${reason}`).join('; ')
  throw new BudgetSpent({
    what: `not calibrated, as records behind the metrics are missing (${named})`,
    next: 'run muster sync until it reads them to the end, then muster crosscheck',
  })
}

/** With more of its figures unexplained than this, a definition has stopped explaining; some lost records spoil fewer. */
const spoiled = 0.1

const unexplained = ({ rows }: Crosschecked): number =>
  rows.filter(({ verdict }) => verdict === 'unexplained').length

/** Whether a definition has stopped explaining the figures, rather than that records are missing or differ. */
export const hasStoppedExplaining = (left: number, compared: number): boolean => left > spoiled * compared

/** Whether another definition explains so much more that it is the cause, and not some records. */
export const explainsInstead = (left: number, before: number): boolean => left <= spoiled * before

export interface Fitted {
  readonly checked: Crosschecked
  readonly inForce: DefinitionInForce
  readonly calibration: Calibration | undefined
}

export interface FittingEffects extends CrosscheckEffects {
  /** For people, before requests are spent on it. */
  readonly say: (line: string) => void
}

/** What a fitting does, one after the other. */
export interface FittingSteps {
  readonly say: (line: string) => void
  /** The resources of which records are missing. */
  readonly incomplete: () => Promise<readonly Incomplete[]>
  readonly inForce: () => Promise<StoredDefinition>
  readonly calibrate: () => Promise<Calibration>
  readonly record: (found: Calibration) => Promise<DefinitionInForce>
  /** Records its result. */
  readonly compare: (inForce: DefinitionInForce) => Promise<Crosschecked>
  /** Records the result of an earlier comparison again. */
  readonly restore: (checked: Crosschecked) => Promise<void>
}

async function begin(steps: FittingSteps, isAsked: boolean) {
  const known = await steps.inForce()
  if (!isAsked && known.isCalibrated) return { inForce: known, calibration: undefined }
  requireWhole(await steps.incomplete())
  if (!isAsked)
    steps.say('never calibrated on records of both metrics: finding out first how the service computes them')
  const calibration = await steps.calibrate()
  return { inForce: await steps.record(calibration), calibration }
}

/** Compares, and where the definition in force has stopped explaining the figures, calibrates and compares again. */
export async function compareFitted(steps: FittingSteps, isAsked: boolean): Promise<Fitted> {
  const { inForce, calibration } = await begin(steps, isAsked)
  const checked = await steps.compare(inForce)
  const left = unexplained(checked)
  const kept = { checked, inForce, calibration }
  if (calibration || !hasStoppedExplaining(left, checked.rows.length)) return kept
  if ((await steps.incomplete()).length > 0) return kept
  steps.say(
    `definition ${inForce.id} leaves ${left} of ${checked.rows.length} figures unexplained: finding out again`,
  )
  const again = await steps.calibrate()
  if (again.stopped !== undefined) return kept
  const other = calibratedDefinition(again)
  const rechecked = await steps.compare(other)
  if (!explainsInstead(unexplained(rechecked), left)) {
    await steps.restore(checked)
    steps.say(`no other definition explains them: ${inForce.id} stays in force`)
    return kept
  }
  steps.say(
    `calibrated again: definition ${other.id} replaces ${inForce.id}; muster build brings the marts up to date`,
  )
  return { checked: rechecked, inForce: await steps.record(again), calibration: again }
}

export function crosscheckFitted(
  effects: FittingEffects,
  { isAsked, ...request }: Omit<CrosscheckRequest, 'inForce'> & { readonly isAsked: boolean },
): Promise<Fitted> {
  const { engine, asker, runId, now, say } = effects
  const steps: FittingSteps = {
    say,
    incomplete: async () =>
      withUnread(incompleteAmong((await notWhole(engine)) ?? []), await neverRead(engine, behindMetrics)),
    inForce: () => readDefinition(engine),
    calibrate: () => calibrate({ engine, asker }),
    record: found => recordCalibration(engine, found, { runId, at: now() }),
    compare: inForce => crosscheck(effects, { ...request, inForce }),
    restore: ({ rows }) => replaceCrosscheck(engine, rows),
  }
  return compareFitted(steps, isAsked)
}
