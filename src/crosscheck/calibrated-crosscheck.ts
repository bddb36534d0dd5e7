/**
 * Decides when a crosscheck calibrates: before the first comparison, and when a definition stops explaining; never on
 * incomplete data.
 */
import { catalogue } from '../contract/catalogue.ts'
import { BudgetSpent } from '../lib/errors.ts'
import { replaceCrosscheck } from '../state/marts/metrics.ts'
import { type IncompleteResource, incompleteResources, neverRead } from '../state/scans/completeness.ts'
import { type Calibration, calibrate } from './calibrate/calibrate.ts'
import {
  calibratedDefinition,
  readDefinition,
  recordCalibration,
  type StoredDefinition,
} from './calibrate/definition-store.ts'
import {
  type CrosscheckEffects,
  type CrosscheckRequest,
  type CrosscheckResult,
  crosscheck,
} from './crosscheck.ts'
import type { DefinitionInForce } from './metrics/definition.ts'

/** Calibration tolerates a few refused or quarantined records. */
const minCompleteness = 0.99

const behindMetrics = catalogue.flatMap(({ name, metric }) => (metric === undefined ? [] : [name]))

/** Resources behind the metrics that lack records. */
export const incompleteAmong = (found: readonly IncompleteResource[]): IncompleteResource[] =>
  found.filter(
    ({ resource, seen, expected }) =>
      behindMetrics.includes(resource) && (seen ?? 0) < minCompleteness * (expected || Infinity),
  )

interface UnreadyResource {
  readonly resource: string
  readonly reason: string
}

/** Adds resources that no sync has read, as in a warehouse that only a replay has filled. */
export const withUnread = (
  incomplete: readonly UnreadyResource[],
  unread: readonly string[],
): readonly UnreadyResource[] => [
  ...incomplete,
  ...unread
    .filter(name => !incomplete.some(({ resource }) => resource === name))
    .map(resource => ({ resource, reason: 'no sync has read it' })),
]

export function requireComplete(incomplete: readonly UnreadyResource[]): void {
  if (incomplete.length === 0) return
  const named = incomplete.map(({ resource, reason }) => `${resource}: ${reason}`).join('; ')
  throw new BudgetSpent({
    what: `not calibrated, as records behind the metrics are missing (${named})`,
    next: 'run muster sync until it reads them to the end, then muster crosscheck',
  })
}

/** Above this share of unexplained figures the definition is wrong; a few lost records spoil fewer figures. */
const spoiled = 0.1

const unexplained = ({ rows }: CrosscheckResult): number =>
  rows.filter(({ verdict }) => verdict === 'unexplained').length

/** Whether the definition is at fault, not missing or different records. */
export const hasStoppedExplaining = (left: number, compared: number): boolean => left > spoiled * compared

/** Whether another definition explains so much more that the definition is the cause, not some records. */
export const explainsInstead = (left: number, before: number): boolean => left <= spoiled * before

export interface FittedCrosscheck {
  readonly checked: CrosscheckResult
  readonly inForce: DefinitionInForce
  readonly calibration: Calibration | undefined
}

export interface FittingEffects extends CrosscheckEffects {
  /** Announces a step to the user before it spends requests. */
  readonly say: (line: string) => void
}

/** Steps of a calibrated crosscheck, in their order. */
export interface FittingSteps {
  readonly say: (line: string) => void
  /** Resources that lack records. */
  readonly incomplete: () => Promise<readonly UnreadyResource[]>
  readonly inForce: () => Promise<StoredDefinition>
  readonly calibrate: () => Promise<Calibration>
  readonly record: (found: Calibration) => Promise<DefinitionInForce>
  /** Records its result. */
  readonly compare: (inForce: DefinitionInForce) => Promise<CrosscheckResult>
  /** Records the result of an earlier comparison again. */
  readonly restore: (checked: CrosscheckResult) => Promise<void>
}

async function begin(steps: FittingSteps, isAsked: boolean) {
  const known = await steps.inForce()
  if (!isAsked && known.isCalibrated) return { inForce: known, calibration: undefined }
  requireComplete(await steps.incomplete())
  if (!isAsked) steps.say('never calibrated on records of both metrics: calibrating first')
  const calibration = await steps.calibrate()
  return { inForce: await steps.record(calibration), calibration }
}

/** Compares, and where the definition in force has stopped explaining the figures, calibrates and compares again. */
export async function compareFitted(steps: FittingSteps, isAsked: boolean): Promise<FittedCrosscheck> {
  const { inForce, calibration } = await begin(steps, isAsked)
  const checked = await steps.compare(inForce)
  const left = unexplained(checked)
  const storedResult = { checked, inForce, calibration }
  if (calibration || !hasStoppedExplaining(left, checked.rows.length)) return storedResult
  if ((await steps.incomplete()).length > 0) return storedResult
  steps.say(
    `definition ${inForce.id} leaves ${left} of ${checked.rows.length} figures unexplained: calibrating again`,
  )
  const again = await steps.calibrate()
  if (again.stopped !== undefined) return storedResult
  const other = calibratedDefinition(again)
  const rechecked = await steps.compare(other)
  if (!explainsInstead(unexplained(rechecked), left)) {
    await steps.restore(checked)
    steps.say(`no other definition explains them: ${inForce.id} stays in force`)
    return storedResult
  }
  steps.say(
    `calibrated again: definition ${other.id} replaces ${inForce.id}; muster build brings the marts up to date`,
  )
  return { checked: rechecked, inForce: await steps.record(again), calibration: again }
}

export function crosscheckFitted(
  effects: FittingEffects,
  { isAsked, ...request }: Omit<CrosscheckRequest, 'inForce'> & { readonly isAsked: boolean },
): Promise<FittedCrosscheck> {
  const { engine, asker, runId, now, say } = effects
  const steps: FittingSteps = {
    say,
    incomplete: async () =>
      withUnread(
        incompleteAmong((await incompleteResources(engine)) ?? []),
        await neverRead(engine, behindMetrics),
      ),
    inForce: () => readDefinition(engine),
    calibrate: () => calibrate({ engine, asker }),
    record: found => recordCalibration(engine, found, { runId, at: now() }),
    compare: inForce => crosscheck(effects, { ...request, inForce }),
    restore: ({ rows }) => replaceCrosscheck(engine, rows),
  }
  return compareFitted(steps, isAsked)
}
