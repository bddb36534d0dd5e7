/**
 * The kinds of query parameter: each is a schema that turns text into a value or says why it cannot. `meta` adds the JSON
 * Schema of kinds that are not plain text to a caller.
 */
import * as z from 'zod'
import { safeId, safeIds } from '../../contract/fields/record-id.ts'
import { isDay } from '../../lib/dates.ts'
import { ParameterError, type ViolationKind } from '../refusals/violations.ts'
import { inputSchema, type JsonSchema } from './json-schema.ts'

const fieldPath = /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/

const defaultLimit = 50
const largestLimit = 200

/** Ids are opaque strings; this refuses text that cannot be an id (empty, commas, spaces). */
export const idParameter = z.string().regex(new RegExp(safeId), 'is not an id')
export const idsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(idParameter))
  .meta({ pattern: safeIds })
export const textParameter = z.string()
const dayParameter = z.string().refine(isDay, 'is not a date of the form YYYY-MM-DD').meta({ format: 'date' })
const flagParameter = z
  .enum(['true', 'false'])
  .transform(text => text === 'true')
  .meta({ type: 'boolean', enum: [true, false] })

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
  page: wholeParameter(1, 999_999_999, 1).describe('Page, from 1.'),
  limit: wholeParameter(1, largestLimit, defaultLimit).describe('Records a page.'),
}

export const fieldsParameter = z
  .string()
  .transform(text => text.split(','))
  .pipe(z.array(z.string().regex(fieldPath, 'is not a field path')))
  .optional()
  .describe('Fields to answer with, comma-separated; dots lead into nested ones.')

export const companiesParameter = idsParameter
  .optional()
  .describe('Id of a company, or several, comma-separated; all that the key may see when left out.')

export const searchParameter = textParameter.optional().describe('Text to look for, whatever its case.')

export const rangeParameters = {
  from: dayParameter.optional().describe('First day of the range.'),
  to: dayParameter.optional().describe('Last day of the range.'),
}

export function sortParameters<const Fields extends readonly [string, ...string[]]>(
  fields: Fields,
  by: Fields[number],
  order: 'asc' | 'desc',
) {
  return {
    sortBy: z.enum(fields).default(by).describe('Field that the records are sorted by.'),
    sortOrder: z.enum(['asc', 'desc']).default(order).describe('Ascending or descending.'),
  }
}

/** Parts of a record that come only when a flag asks for them. */
export type Includes = Readonly<Record<string, { readonly field: string; readonly meaning: string }>>

export function includeParameters(includes: Includes): z.ZodRawShape {
  return Object.fromEntries(
    Object.entries(includes).map(([name, { meaning }]) => [
      name,
      flagParameter.default(false).describe(meaning),
    ]),
  )
}

export const includedFields = (includes: Includes): readonly string[] =>
  Object.values(includes).map(({ field }) => field)

/** Fields that were not asked for. */
export function leftOut(includes: Includes, query: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(includes).flatMap(([name, { field }]) => (query[name] ? [] : [field]))
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

/** A schema for each parameter; none is required. */
export function querySchemas(parameters: z.ZodRawShape): Record<string, JsonSchema> {
  const { properties = {} } = inputSchema(z.object(parameters))
  return Object.fromEntries(
    Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => [
      name,
      { ...schema, ...presetOf(parameters[name]) },
    ]),
  )
}

/** Zod does not write the default of a transformed parameter. */
function presetOf(parameter: unknown): JsonSchema {
  return parameter instanceof z.ZodDefault ? { default: parameter.def.defaultValue } : {}
}
