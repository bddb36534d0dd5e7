/** Declares the settings of the field policy: which fields are blocked or hashed before anything is stored. */
import * as z from 'zod'
import { type FieldRule, faultOf, type Treatment, treatments } from '../contract/derived/field-rules.ts'
import { didYouMean } from '../lib/text/nearest.ts'
import { readSecret, type Secret, type SettingsFindings } from './secrets.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'

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
