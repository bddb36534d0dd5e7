/** JSON Schema 2020-12, the dialect of OpenAPI 3.1, and the few shapes that answers are made of. */
import * as z from 'zod'
import type { ShapeNode } from '../../contract/derived/json-shape.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }
type Properties = Readonly<Record<string, JsonSchema>>

/** A schema that the OpenAPI document holds under a name. */
export interface NamedSchema {
  readonly name: string
  readonly schema: JsonSchema
  /** Those it refers to. */
  readonly uses?: readonly NamedSchema[]
  /** The declared fields of a record. */
  readonly shape?: ShapeNode | undefined
}

interface ObjectOptions {
  readonly required?: readonly string[]
  readonly description?: string
}

/** No other fields than these; all of them come unless `required` says which. */
export function closed(properties: Properties, options: ObjectOptions = {}): JsonSchema {
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
export const whole: JsonSchema = { type: 'integer' }

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
