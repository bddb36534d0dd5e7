/** Derives the JSON Schema of a settings file, for editors, from the declared settings. */
import * as z from 'zod'
import { declared } from './shape.ts'

/** Any value may contain a variable, whose own value is checked when the settings are read. */
const withVariable = { type: 'string', pattern: String.raw`\$\{[A-Za-z_]\w*\}` } as const

const title = 'Settings of muster'

type SchemaNode = Record<string, unknown>

const isLeaf = ({ type, enum: words }: SchemaNode): boolean =>
  type === 'string' || type === 'integer' || type === 'number' || words !== undefined

/** Whether any text is valid, with or without a variable. */
const isFree = (node: SchemaNode): boolean => node.type === 'string' && !('pattern' in node || 'enum' in node)

/** Allows a variable instead of a value: the limits become one of two alternatives; description and default stay outside. */
function orVariable(node: SchemaNode): void {
  if (!isLeaf(node) || isFree(node)) return
  const { description, default: fallback, ...bounds } = node
  for (const key of Object.keys(bounds)) delete node[key]
  if (bounds.maximum === Number.MAX_SAFE_INTEGER) delete bounds.maximum
  // The limits come first, so that editors offer known values.
  node.anyOf = [bounds, withVariable]
}

/** Adds default values, which the conversion of text to numbers hides from the schema. */
function addDefaults(properties: Record<string, SchemaNode>, values: Record<string, unknown>): void {
  for (const [name, node] of Object.entries(properties)) {
    const value = values[name]
    if (typeof value === 'object' && value !== null) {
      addDefaults(node.properties as Record<string, SchemaNode>, value as Record<string, unknown>)
      delete node.default
    } else if (value !== undefined) node.default = value
  }
}

export function settingsSchema(): Readonly<SchemaNode> {
  const { $schema, ...rest } = z.toJSONSchema(declared.settings, {
    io: 'input',
    // The draft that editors know.
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => orVariable(jsonSchema as SchemaNode),
  }) as SchemaNode
  const { connections } = rest.properties as { connections: { additionalProperties: SchemaNode } }
  const { properties } = connections.additionalProperties as { properties: Record<string, SchemaNode> }
  addDefaults(properties, declared.connection.parse({}))
  for (const [name, group] of Object.entries(declared.groups))
    addDefaults((properties[name]?.properties ?? {}) as Record<string, SchemaNode>, group.parse({}))
  return { $schema, title, ...rest }
}

/** Whether some version of this program wrote this schema. */
export const isSettingsSchema = (text: string): boolean => text.includes(`"title": "${title}"`)
