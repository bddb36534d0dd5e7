/** JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 takes it, and the few shapes that answers are made of. */

export type JsonSchema = { readonly [keyword: string]: unknown }
export type Properties = Readonly<Record<string, JsonSchema>>

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
export const flag: JsonSchema = { type: 'boolean' }
export const moment: JsonSchema = { type: 'string', format: 'date-time' }

/** A schema of the document's own, by name. */
export const named = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The service leaves optional values out, or sends null: a client has to take both. */
export function orNull(schema: JsonSchema): JsonSchema {
  return typeof schema.type === 'string' ? { ...schema, type: [schema.type, 'null'] } : schema
}
