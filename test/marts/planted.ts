/** Errors for each check: statements that plant them in a filled warehouse with marts, and what the check must say. */
import { defaultDays } from '../../src/lib/day-rule.ts'
import type { Check } from '../../src/marts/checks/check.ts'
import { type CheckResult, type CheckTime, failedRows, runCheck } from '../../src/marts/checks/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt } from '../support/filled-warehouse.ts'
import { plantedByAudits } from './audit/audits.ts'
import { plantedInMarts } from './planted-in-marts.ts'
import { plantedInMeasures } from './planted-in-measures.ts'
import { plantedInStar } from './planted-in-star.ts'
import { plantedOnLimits } from './planted-on-limits.ts'
import { plantedOnOneSide } from './planted-on-one-side.ts'
import type { Planted } from './planting.ts'

/** In order of the checks' names. */
export const planted = (engine: Engine['kind']): readonly Planted[] =>
  [
    ...plantedInStar(engine),
    ...plantedInMarts,
    ...plantedInMeasures,
    ...plantedOnOneSide,
    ...plantedOnLimits,
    ...plantedByAudits,
  ].sort((one, other) => (one.check < other.check ? -1 : 1))

/** The filled warehouse is looked at when it was filled. */
export const checkMoment: CheckTime = {
  asOf: filledAt,
  today: filledAt.slice(0, 10),
  ...defaultDays,
  now: filledAt,
}

const undone = new Error('planted')

/** What `look` gives while the statements hold; afterwards they never were. */
export async function withPlanted<Seen>(
  engine: Engine,
  statements: readonly string[],
  look: (engine: Engine) => Promise<Seen>,
): Promise<Seen> {
  let seen: Seen | undefined
  await engine
    .transaction(async engine => {
      for (const statement of statements) await engine.run(statement)
      seen = await look(engine)
      throw undone
    })
    .catch(error => {
      if (error !== undone) throw error
    })
  return seen as Seen
}

/** What of a check looks at one table: others have nothing to do with what was planted there. */
export const about = (check: Check, subject: string): Check => ({
  ...check,
  parts: check.parts.filter(part => part.subject === null || part.subject === subject),
})

export const resultOf = (
  engine: Engine,
  check: Check,
  { statements, subject }: Planted,
): Promise<CheckResult> =>
  withPlanted(engine, statements, engine => runCheck(engine, about(check, subject), checkMoment))

/** Whether the check says what it must. */
export async function isFound(engine: Engine, check: Check, error: Planted): Promise<boolean> {
  const result = await resultOf(engine, check, error)
  const own = result.failures.find(({ subject }) => subject === error.subject)
  const isCounted = error.rows === undefined || failedRows(result) === error.rows
  return isCounted && (error.rows === 0 || (own !== undefined && /^\S/.test(own.samples[0] ?? '')))
}
