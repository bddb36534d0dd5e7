/** Declares the settings of fields: which are blocked or hashed before anything is stored, and what undeclared ones do. */
import * as z from 'zod'
import { catalogue } from '../contract/catalogue.ts'
import { type FieldRule, faultOf, type Treatment, treatments } from '../contract/derived/field-rules.ts'
import { choiceOf, didYouMean } from '../lib/text/nearest.ts'
import { readSecret, type Secret, type SettingsFindings } from './secrets.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'
import { wordOf } from './values.ts'

const word = z.string().meta({ enum: [...treatments] })

export const fields = z
  .record(
    z.string(),
    z.union([word, z.record(z.string(), word)], 'must be block, hash, or a group of fields'),
  )
  .describe(
    'Fields that are blocked or hashed before they are stored, by resource and path; see docs/security.md.',
  )

export interface FieldPolicySettings {
  readonly rules: readonly FieldRule[]
  /** Key of the hashes. */
  readonly key?: Secret
}

interface RawFields {
  readonly fields?: z.infer<typeof fields> | undefined
  readonly fieldKey?: string | undefined
  readonly fieldKeyFile?: string | undefined
}

interface FieldsContext {
  readonly source: SettingsSource
  readonly cwd: string
  readonly findings: SettingsFindings
}

/** Bytes of a key that nobody guesses. */
const shortestKey = 16

const isTreatment = (text: string): text is Treatment => treatments.some(one => one === text)

/** The rules in their order, each with the path of its setting. */
const written = (
  raw: NonNullable<RawFields['fields']>,
): [pattern: string, treatment: string, at: string[]][] =>
  Object.entries(raw).flatMap(([name, rule]): [string, string, string[]][] =>
    typeof rule === 'string'
      ? [[name, rule, [name]]]
      : Object.entries(rule).map(([path, treatment]) => [`${name}.${path}`, treatment, [name, path]]),
  )

function keyIn(raw: RawFields, path: SettingsPath, place: FieldsContext): Secret | undefined {
  const at = { ...place, path: [...path, 'fieldKey'], filePath: [...path, 'fieldKeyFile'] }
  const key = readSecret(at, raw.fieldKey, raw.fieldKeyFile)
  if (key && Buffer.byteLength(key.reveal()) < shortestKey)
    place.findings.problem(at.path, `${dotted(at.path)} is short: use ${shortestKey} random bytes or more`)
  return key
}

export function buildFields(
  raw: RawFields,
  path: SettingsPath,
  place: FieldsContext,
): FieldPolicySettings | undefined {
  if (!raw.fields) return undefined
  const rules = written(raw.fields).flatMap(([pattern, treatment, at]): FieldRule[] => {
    const where = [...path, 'fields', ...at]
    const fault = isTreatment(treatment)
      ? faultOf({ pattern, treatment })
      : `must be block or hash${didYouMean(treatment, treatments)}`
    if (fault !== undefined) place.findings.problem(where, `${dotted(where)}: ${fault}`)
    return isTreatment(treatment) ? [{ pattern, treatment }] : []
  })
  const isKeyed = rules.some(({ treatment }) => treatment === 'hash')
  const key = isKeyed ? keyIn(raw, path, place) : undefined
  return { rules, ...(key && { key }) }
}

const policies = ['evolve', 'warn', 'freeze'] as const
export type SchemaPolicy = (typeof policies)[number]

/** Stands for all resources that are not named. */
const others = '*'

const names: readonly string[] = catalogue.map(({ name }) => name)

export const schemaPolicy = z
  .record(z.string(), wordOf(policies))
  .superRefine((named, found) => {
    for (const name of Object.keys(named))
      if (name !== others && !names.includes(name))
        found.addIssue({ code: 'custom', path: [name], message: `is no resource: ${choiceOf(name, names)}` })
  })
  .describe(
    'By resource, or * for the others: evolve records undeclared and changed fields, warn also prints a line, freeze ends the run as incomplete until muster drift accept.',
  )

export type SchemaPolicies = Readonly<Record<string, SchemaPolicy>>

export const policyFor = (policies: SchemaPolicies | undefined, resource: string): SchemaPolicy =>
  policies?.[resource] ?? policies?.[others] ?? 'evolve'

/** Names of the resources with this policy. */
export const resourcesUnder = (policy: SchemaPolicy, policies: SchemaPolicies | undefined): string[] =>
  names.filter(name => policyFor(policies, name) === policy)
