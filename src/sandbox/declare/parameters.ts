/**
 * Parses the query parameters of an operation by their kinds in the contract. Each kind is a schema that turns text into a
 * value or says why it cannot. `meta` adds the JSON Schema of kinds that a caller does not write as plain text.
 */
import * as z from 'zod'
import type { Kinds, ParameterKind } from '../../contract/fields/operation.ts'
import { safeId, safeIds } from '../../contract/fields/record-id.ts'
import { isDay } from '../../lib/dates.ts'
import { ParameterError, type ViolationKind } from '../refusals.ts'
import { inputSchema, type JsonSchema } from './schemas.ts'

const fieldPath = /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/

const defaultLimit = 50
const maxLimit = 200
const maxPage = 999_999_999

const commaSeparated = z.string().transform(text => text.split(','))

/** Ids are opaque strings; this refuses text that cannot be an id (empty, commas, spaces). */
export const idParameter = z.string().regex(new RegExp(safeId), 'is not an id')

function integerParameter(max: number) {
  return z
    .string()
    .refine(text => /^\d{1,9}$/.test(text), 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(max))
    .meta({ type: 'integer', minimum: 1, maximum: max })
}

const byKind: Readonly<Record<Extract<ParameterKind, string>, z.ZodType>> = {
  text: z.string(),
  id: idParameter,
  ids: commaSeparated.pipe(z.array(idParameter)).meta({ pattern: safeIds }),
  names: commaSeparated.pipe(z.array(z.string().regex(fieldPath, 'is not a field path'))),
  day: z.string().refine(isDay, 'is not a date of the form YYYY-MM-DD').meta({ format: 'date' }),
  count: integerParameter(maxPage),
  number: z
    .string()
    .refine(text => /^\d{1,3}(\.\d+)?$/.test(text), 'is not a number')
    .transform(Number)
    .meta({ type: 'number', minimum: 0, exclusiveMaximum: 1000 }),
  flag: z
    .enum(['true', 'false'])
    .transform(text => text === 'true')
    .meta({ type: 'boolean', enum: [true, false] }),
}

function schemaOf(kind: ParameterKind): z.ZodType {
  if (typeof kind === 'string') return byKind[kind]
  return 'length' in kind ? z.enum(kind) : commaSeparated.pipe(z.array(z.enum(kind.some)))
}

const descriptions: Readonly<Record<string, string>> = {
  page: 'Page, from 1.',
  limit: 'Records a page.',
  fields: 'Fields to return, comma-separated; dots lead into nested ones.',
  company: 'Id of a company, or several, comma-separated; all that the key may see when left out.',
  query: 'Text to search for, ignoring case.',
  from: 'First day of the range.',
  to: 'Last day of the range.',
  dateField: 'The date that from and to apply to.',
  sortBy: 'Field that the records are sorted by.',
  sortOrder: 'Ascending or descending.',
  invoiceType: 'Only invoices between these parties.',
  mspInvoiceType: "Only invoices of this kind, seen from the provider's side.",
  projectId: 'Project whose effective matrix to return; without it, the entries of the company.',
  role: 'Only those with this role.',
  action: 'Only mappings of this action.',
  metric: 'Rows of requisitions and workers, or one of the two aggregates.',
  groupBy: 'How the rows of the answer are grouped.',
  hoursThreshold: 'Threshold of net hours a week; for workersOverHours.',
  includeConfig: 'Adds the configuration.',
  includeTimelogs: 'Adds the time logs.',
  includeRates: 'Adds the rates.',
  includeCompetencyMatrix: 'Adds the competency matrix, without overrides of projects.',
  includeStageTracking: 'Adds the recruitment stages, where the company tracks them.',
}

function descriptionOf(name: string, kind: ParameterKind): string {
  if (kind === 'id') return `Id of the ${name}.`
  if (kind === 'ids') return `Id of the ${name}, or several, comma-separated.`
  return isActivity(kind) ? 'Only active records, or only inactive ones.' : `Only records with this ${name}.`
}

/** `active` or `inactive`, over a boolean field. */
export const isActivity = (kind: ParameterKind | undefined): boolean =>
  Array.isArray(kind) && kind.join() === 'active,inactive'

type ParsedParameter<K extends ParameterKind> = K extends 'count' | 'number'
  ? number
  : K extends 'flag'
    ? boolean
    : K extends 'ids' | 'names'
      ? readonly string[]
      : K extends { readonly some: readonly (infer One)[] }
        ? readonly One[]
        : K extends readonly (infer One)[]
          ? One
          : string

type ParameterTypes<Takes extends Kinds, Present> = {
  readonly [Name in keyof Takes]: z.ZodType<
    ParsedParameter<Takes[Name]> | (Name extends Present ? never : undefined)
  >
}

/** A parameter that is left out has its default, if it has one; a flag is false. */
export function parametersOf<Takes extends Kinds, const Defaults extends object>(
  takes: Takes,
  defaults: Defaults,
): ParameterTypes<Takes, keyof Defaults | 'page' | 'limit'> {
  const presets: Readonly<Record<string, unknown>> = { page: 1, limit: defaultLimit, ...defaults }
  const parameters = Object.entries(takes).map(([name, kind]) => {
    const schema = name === 'limit' ? integerParameter(maxLimit) : schemaOf(kind)
    const preset = presets[name] ?? (kind === 'flag' ? false : undefined)
    const optional = preset === undefined ? schema.optional() : schema.default(preset)
    return [name, optional.describe(descriptions[name] ?? descriptionOf(name, kind))]
  })
  return Object.fromEntries(parameters)
}

/** Fields that come only when a flag asks for them, and that this query does not ask for: `includeConfig` brings `config`. */
export function leftOut(takes: Kinds, query: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.keys(takes).flatMap(name => (query[name] ? [] : (fieldOfFlag(name) ?? [])))
}

function fieldOfFlag(name: string): string | undefined {
  const [, first, rest] = /^include([A-Z])(\w+)$/.exec(name) ?? []
  return first && `${first.toLowerCase()}${rest}`
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

/** The default as a caller would write it, because Zod omits that of a transformed parameter. */
function presetOf(parameter: unknown): JsonSchema {
  if (!(parameter instanceof z.ZodDefault)) return {}
  const { defaultValue } = parameter.def
  return { default: Array.isArray(defaultValue) ? defaultValue.join(',') : defaultValue }
}
