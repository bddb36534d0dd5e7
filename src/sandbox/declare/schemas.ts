/**
 * Builds JSON Schema 2020-12, the dialect of OpenAPI 3.1, for answers; the schema of a record derives from the same
 * declaration as its tables.
 */
import * as z from 'zod'
import { openDocuments, type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Column, ColumnType } from '../../contract/fields/column.ts'
import type { Table } from '../../contract/fields/table.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }
type SchemaProperties = Readonly<Record<string, JsonSchema>>

/** A schema that has a name in the OpenAPI document. */
export interface NamedSchema {
  readonly name: string
  readonly schema: JsonSchema
  /** Schemas that it refers to. */
  readonly uses?: readonly NamedSchema[]
  /** The declared fields of a record. */
  readonly shape?: ShapeNode | undefined
}

interface ObjectOptions {
  readonly required?: readonly string[]
  readonly description?: string
}

/** Allows no other fields, and requires all of these unless `required` names some. */
export function closed(properties: SchemaProperties, options: ObjectOptions = {}): JsonSchema {
  const { required = Object.keys(properties), description } = options
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

export const text: JsonSchema = { type: 'string' }
export const number: JsonSchema = { type: 'number' }
export const integerSchema: JsonSchema = { type: 'integer' }

/** Another record by its id and name. */
export const refSchema: NamedSchema = { name: 'Ref', schema: closed({ id: text, name: text }) }

export const refTo = ({ name }: NamedSchema): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The service leaves optional values out or sends null: a client must accept both. */
export function orNull(schema: JsonSchema): JsonSchema {
  return typeof schema.type === 'string' ? { ...schema, type: [schema.type, 'null'] } : schema
}

/** The JSON that a caller sends, before the schema turns it into values. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as JsonSchema
}

const byType: Readonly<Record<ColumnType, JsonSchema>> = {
  text: { type: 'string' },
  url: { type: 'string', format: 'uri' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  money: { type: 'number' },
  quantity: { type: 'number' },
  coordinate: { type: 'number' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  dayMonthYear: { type: 'string', pattern: '^(\\d{2}/\\d{2}/\\d{4})?$' },
  json: {},
}

/** Leaves that contain more than one kind of value. */
const several: Readonly<Record<string, JsonSchema>> = {
  'config.tierRules[].tier': { type: ['string', 'number', 'null'] },
  'submissionAnswers[].value': { type: ['string', 'array', 'null'], items: { type: 'string' } },
}

/** A record of the contract, under the name that the OpenAPI document gives it. */
export function recordOf(
  name: string,
  { table }: { readonly table: Table },
  required?: readonly string[],
): NamedSchema {
  return { name, schema: recordSchema(table, required), shape: shapeOf(table) }
}

/**
 * Every field except those in `required` may be absent or null. An object whose fields the contract lists has no others; an
 * object it does not show may contain anything. The service may extend a list of values, so the list is under
 * `x-extensible-enum`.
 */
function recordSchema(table: Table, required: readonly string[] = []): JsonSchema {
  const documents = new Set(openDocuments(table).map(({ path }) => path))
  const { kind, fields } = shapeOf(table)
  const undeclared = [...documents].filter(path => !path.includes('.') && !fields.has(path))
  const all = new Map([...fields, ...undeclared.map(path => [path, anything] as const)])
  const { type, ...rest } = schemaOf({ kind, fields: all }, '', documents)
  return { type: 'object', description: table.description, ...rest, ...(required.length > 0 && { required }) }
}

const anything: ShapeNode = { kind: 'leaf', type: 'json' }

function schemaOf(node: ShapeNode, at: string, documents: ReadonlySet<string>): JsonSchema {
  if (node.kind === 'leaf') return several[at] ?? leafSchema(node.type, node.column)
  if (node.kind === 'list')
    return { type: ['array', 'null'], items: schemaOf(node.element, `${at}[]`, documents) }
  const properties = Object.fromEntries(
    [...node.fields].map(([name, inner]) => [
      name,
      schemaOf(inner, at === '' ? name : `${at}.${name}`, documents),
    ]),
  )
  const isOpen = node.open === true || [...documents].some(path => at === path || at.startsWith(`${path}.`))
  return { type: ['object', 'null'], properties, ...(isOpen ? {} : { additionalProperties: false }) }
}

function leafSchema(type: ColumnType, column: Column | undefined): JsonSchema {
  return orNull({
    ...byType[type],
    ...(column && { description: descriptionOf(column) }),
    ...(column?.values && { 'x-extensible-enum': column.values }),
    ...(column && column.privacy !== 'open' && { 'x-privacy': column.privacy }),
  })
}

/** The description of a reference fits the warehouse's column, which is never empty; the service's field may be. */
function descriptionOf({ description, member }: Column): string {
  return member ? `Names the ${member.dimension.replaceAll('_', ' ')}.` : description
}
