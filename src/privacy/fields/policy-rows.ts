/** Lists what a field policy does with each declared field, for people who have to approve it. */
import { createHash } from 'node:crypto'
import { catalogue } from '../../contract/catalogue.ts'
import { fieldColumns } from '../../contract/derived/field-places.ts'
import type { Treatment } from '../../contract/derived/field-rules.ts'
import type { FieldPolicy } from './policy.ts'

export interface PolicyRow {
  readonly resource: string
  readonly field: string
  readonly treatment: Treatment | 'kept'
  /** The patterns that match it. */
  readonly rule: string
  /** Why the model needs a kept field, or why a field is blocked where a hash was asked for. */
  readonly why: string | null
}

function rowOf(policy: FieldPolicy, resource: string, field: string): PolicyRow[] {
  const rules = policy.rulesFor(resource, field)
  const rule = rules.map(({ pattern }) => pattern).join(', ')
  const kept = policy.keptBecause(resource, field)
  if (kept !== undefined) return [{ resource, field, treatment: 'kept', rule, why: kept }]
  const treatment = policy.at(resource, field)
  if (!treatment) return []
  const isHashAsked = rules.every(one => one.treatment === 'hash')
  const why = treatment === 'block' && isHashAsked ? 'its column cannot store a hash' : null
  return [{ resource, field, treatment, rule, why }]
}

/** In the order of the catalogue. */
export const policyRows = (policy: FieldPolicy): PolicyRow[] =>
  catalogue.flatMap(resource => {
    const fields = new Set(fieldColumns(resource).map(({ path }) => path))
    return [...fields].filter(path => path !== '').flatMap(path => rowOf(policy, resource.name, path))
  })

/** Identifies the policy: the rules and the key, whatever their order. */
export const fingerprintOf = ({ rules, keyId = '' }: FieldPolicy): string =>
  createHash('sha256')
    .update([...rules.map(({ pattern, treatment }) => `${pattern} ${treatment}`).sort(), keyId].join('\n'))
    .digest('hex')
