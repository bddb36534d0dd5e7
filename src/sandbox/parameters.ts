/** The kinds of query parameter, each a schema that turns its text into a value or says why it cannot. */
import { z } from 'zod'
import { type BreachKind, ParameterError } from './breach-kinds.ts'
import { isDay } from './day-range.ts'

/** Ids are opaque strings; this refuses what can be no id at all (empty, commas, spaces). */
const ID = /^[A-Za-z0-9_-]{1,64}$/
const FIELD_PATH = /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

export const idParameter = z.string().regex(ID, 'is not an id')
export const idsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(idParameter))
export const textParameter = z.string()
export const dayParameter = z.string().refine(isDay, 'is not a date of the form YYYY-MM-DD')
export const flagParameter = z.enum(['true', 'false']).transform(text => text === 'true')
export const fieldsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(z.string().regex(FIELD_PATH, 'is not a field path')))

function wholeParameter(least: number, most: number, preset: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .default(preset)
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
    parsed.error.issues.map(issue => ({ kind: breachOf(issue, raw), reason: reasonOf(issue) })),
  )
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown parameter ${issue.keys.join(', ')}`
  return `${String(issue.path[0])}: ${issue.message}`
}

const ofParameters: Readonly<Record<string, BreachKind>> = {
  limit: 'limit',
  page: 'page',
  from: 'date',
  to: 'date',
}

function breachOf(issue: z.core.$ZodIssue, raw: unknown): BreachKind {
  if (issue.code === 'unrecognized_keys') return 'unknown-parameter'
  const name = String(issue.path[0])
  if (Array.isArray((raw as Record<string, unknown>)[name])) return 'repeated-parameter'
  return ofParameters[name] ?? (issue.code === 'invalid_value' ? 'enum' : 'bad-parameter')
}
