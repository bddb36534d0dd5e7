/** Compares the field policy of the settings with that which stored data follows, and refuses to mix them. */
import type { Landing } from '../../landing/landing.ts'
import { rewriteLanding } from '../../landing/rewrite.ts'
import { ConfigError } from '../../lib/errors.ts'
import { isUnused, readFieldRules, recordFieldRules } from '../../state/field-rules.ts'
import type { FieldRuleRow } from '../../state/privacy-tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { gateOf } from './gate.ts'
import type { FieldPolicy } from './policy.ts'

const rowsOf = ({ rules, keyId }: FieldPolicy, at: string): FieldRuleRow[] =>
  [...new Map(rules.map(rule => [`${rule.pattern} ${rule.treatment}`, rule])).values()].map(
    ({ pattern, treatment }) => ({
      ...{ pattern, treatment },
      key_id: treatment === 'hash' ? (keyId ?? null) : null,
      applied_at: at,
    }),
  )

const textOf = (rows: readonly FieldRuleRow[]): string =>
  rows
    .map(({ pattern, treatment, key_id }) => `${pattern} ${treatment} ${key_id ?? ''}`)
    .sort()
    .join('\n')

/** `now` is ISO 8601. */
export const recordPolicy = (engine: Engine, policy: FieldPolicy, now: string): Promise<void> =>
  recordFieldRules(engine, rowsOf(policy, now))

/** Since when stored data follows this policy; null for one without rules, undefined if it does not. */
export async function followedSince(engine: Engine, policy: FieldPolicy): Promise<string | null | undefined> {
  const recorded = await readFieldRules(engine)
  if (textOf(recorded) !== textOf(rowsOf(policy, ''))) return undefined
  return recorded[0]?.applied_at ?? null
}

interface PolicyReading {
  readonly policy: FieldPolicy
  readonly landing: Landing
  readonly signal: AbortSignal
  /** ISO 8601. */
  readonly now: string
}

/**
 * Call before anything is landed or loaded. Records the policy of an empty warehouse, whose pages may be older than it.
 * Throws ConfigError if stored data follows another policy: pages of a stopped run would bring blocked fields back.
 */
export async function requirePolicy(engine: Engine, reading: PolicyReading): Promise<void> {
  const { policy, landing, signal, now } = reading
  if ((await followedSince(engine, policy)) !== undefined) return
  if (!(await isUnused(engine)))
    throw new ConfigError({
      what: 'the settings have another field policy than the stored data',
      where: engine.location,
      next: 'run muster clean --fields --dry-run, then muster clean --fields --yes; until then nothing is read',
    })
  await rewriteLanding(landing, { scrub: gateOf(policy), isDry: false, signal })
  await recordPolicy(engine, policy, now)
}
