/**
 * The kinds of query parameter, each a schema that turns its text into a value or says why it cannot. What `meta` says
 * is JSON Schema, for kinds that are more than text to those who send them.
 */
import { z } from 'zod'
import { safeId, safeIds } from '../../contract/fields/record-id.ts'
import { isDay } from '../../lib/dates.ts'
import { ParameterError, type ViolationKind } from '../refusals/violations.ts'

const FIELD_PATH = /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

/** Ids are opaque strings; this refuses what can be no id at all (empty, commas, spaces). */
export const idParameter = z.string().regex(new RegExp(safeId), 'is not an id')
export const idsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(idParameter))
  .meta({ pattern: safeIds })
export const textParameter = z.string()
export const dayParameter = z
  .string()
  .refine(isDay, 'is not a date of the form YYYY-MM-DD')
  .meta({ format: 'date' })
export const flagParameter = z
  .enum(['true', 'false'])
  .transform(text => text === 'true')
  .meta({ type: 'boolean', enum: [true, false] })
export const fieldsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(z.string().regex(FIELD_PATH, 'is not a field path')))

function wholeParameter(least: number, most: number, preset: number) {
  return z
    .string()
    .refine(text => /^\d{1,9}$/.test(text), 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .default(preset)
    .meta({ type: 'integer', minimum: least, maximum: most })
}

export const pageParameters = {
  page: wholeParameter(1, 999_999_999, 1),
  limit: wholeParameter(1, LIMIT_MAX, LIMIT_DEFAULT),
}

export function oneOfParameter<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values)
}

/** 400 for an unknown parameter, for one given twice and for a value outside its kind. */
export function parseParameters<T extends z.ZodRawShape>(shape: T, raw: unknown): z.infer<z.ZodObject<T>> {
  const parsed = z.strictObject(shape).safeParse(raw)
  if (parsed.success) return parsed.data as z.infer<z.ZodObject<T>>
  throw new ParameterError(
    parsed.error.issues.map(issue => ({ kind: violationOf(issue, raw), reason: reasonOf(issue) })),
  )
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown parameter ${issue.keys.join(', ')}`
  return `${String(issue.path[0])}: ${issue.message}`
}

const ofParameters: Readonly<Record<string, ViolationKind>> = {
  limit: 'limit',
  page: 'page',
  from: 'date',
  to: 'date',
}

function violationOf(issue: z.core.$ZodIssue, raw: unknown): ViolationKind {
  if (issue.code === 'unrecognized_keys') return 'unknown-parameter'
  const name = String(issue.path[0])
  if (Array.isArray((raw as Record<string, unknown>)[name])) return 'repeated-parameter'
  return ofParameters[name] ?? (issue.code === 'invalid_value' ? 'enum' : 'bad-parameter')
}
