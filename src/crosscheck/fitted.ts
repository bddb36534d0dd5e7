/** When a crosscheck calibrates: never on incomplete data, before the first comparison, and when a definition stops explaining. */
import { catalogue } from '../contract/catalogue.ts'
import { BudgetSpent } from '../lib/errors.ts'
import { replaceCrosscheck } from '../state/marts/metrics.ts'
import { type NotWhole, notWhole } from '../state/scans/wholeness.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Calibration, calibrate } from './calibrate/calibrate.ts'
import { calibratedDefinition, readDefinition, recordCalibration } from './calibrate/definition-store.ts'
import {
  type CrosscheckEffects,
  type Crosschecked,
  type CrosscheckRequest,
  crosscheck,
} from './crosscheck.ts'
import type { DefinitionInForce } from './metrics/definition.ts'

/** Records that are refused for good, or in quarantine, do not keep the rest from being calibrated on. */
const wholeEnough = 0.99

/** The resources behind the metrics of which records are missing. */
export const incompleteAmong = (found: readonly NotWhole[]): NotWhole[] =>
  found.filter(
    ({ resource, seen, expected }) =>
      catalogue.some(({ name, metric }) => name === resource && metric !== undefined) &&
      !(seen !== null && expected !== null && expected > 0 && seen >= wholeEnough * expected),
  )

async function requireWhole(engine: Engine): Promise<void> {
  const incomplete = incompleteAmong((await notWhole(engine)) ?? [])
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

async function begin(effects: FittingEffects, isAsked: boolean) {
  const { engine, asker, runId, now, say } = effects
  const known = await readDefinition(engine)
  if (!isAsked && known.isCalibrated) return { inForce: known, calibration: undefined }
  await requireWhole(engine)
  if (!isAsked)
    say('never calibrated on records of both metrics: finding out first how the service computes them')
  const calibration = await calibrate({ engine, asker })
  return { inForce: await recordCalibration(engine, calibration, { runId, at: now() }), calibration }
}

/** Compares, and where the definition in force has stopped explaining the figures, finds out again and compares anew. */
export async function crosscheckFitted(
  effects: FittingEffects,
  { isAsked, ...request }: Omit<CrosscheckRequest, 'inForce'> & { readonly isAsked: boolean },
): Promise<Fitted> {
  const { engine, asker, runId, now, say } = effects
  const { inForce, calibration } = await begin(effects, isAsked)
  const checked = await crosscheck(effects, { ...request, inForce })
  const left = unexplained(checked)
  const kept = { checked, inForce, calibration }
  if (calibration || !hasStoppedExplaining(left, checked.rows.length)) return kept
  if (incompleteAmong((await notWhole(engine)) ?? []).length > 0) return kept
  say(
    `definition ${inForce.id} leaves ${left} of ${checked.rows.length} figures unexplained: finding out again`,
  )
  const again = await calibrate({ engine, asker })
  if (again.stopped !== undefined) return kept
  const other = calibratedDefinition(again)
  const rechecked = await crosscheck(effects, { ...request, inForce: other })
  if (!explainsInstead(unexplained(rechecked), left)) {
    await replaceCrosscheck(engine, checked.rows)
    say(`no other definition explains them: ${inForce.id} stays in force`)
    return kept
  }
  say(
    `calibrated again: definition ${other.id} replaces ${inForce.id}; muster build brings the marts up to date`,
  )
  return {
    checked: rechecked,
    inForce: await recordCalibration(engine, again, { runId, at: now() }),
    calibration: again,
  }
}
