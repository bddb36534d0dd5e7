/** The JSON Schema of a settings file, for editors: derived from the declared settings. */
import * as z from 'zod'
import { declared } from './shape.ts'

/** A variable may stand in any value, and its own value is checked when the settings are read. */
const withVariable = { type: 'string', pattern: String.raw`\$\{[A-Za-z_]\w*\}` } as const

const title = 'Settings of muster'

type Node = Record<string, unknown>

const isLeaf = ({ type, enum: words }: Node): boolean =>
  type === 'string' || type === 'integer' || type === 'number' || words !== undefined

/** Whether every text is valid, with a variable or without. */
const isFree = (node: Node): boolean => node.type === 'string' && !('pattern' in node || 'enum' in node)

/** What is about the setting stays outside; what bounds its value is one of two. */
function orVariable(node: Node): void {
  if (!isLeaf(node) || isFree(node)) return
  const { description, default: usual, ...bounds } = node
  for (const key of Object.keys(bounds)) delete node[key]
  if (bounds.maximum === Number.MAX_SAFE_INTEGER) delete bounds.maximum
  // A text of any kind where only one is known, so that editors offer it.
  node.anyOf = [bounds, withVariable]
}

/** The value that a setting has when nobody writes it; a conversion of text to numbers hides it from the schema. */
function addDefaults(properties: Record<string, Node>, values: Record<string, unknown>): void {
  for (const [name, node] of Object.entries(properties)) {
    const value = values[name]
    if (typeof value === 'object' && value !== null) {
      addDefaults(node.properties as Record<string, Node>, value as Record<string, unknown>)
      delete node.default
    } else if (value !== undefined) node.default = value
  }
}

export function settingsSchema(): Readonly<Node> {
  const { $schema, ...rest } = z.toJSONSchema(declared.settings, {
    io: 'input',
    // The draft that editors know.
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => orVariable(jsonSchema as Node),
  }) as Node
  const { connections } = rest.properties as { connections: { additionalProperties: Node } }
  const { properties } = connections.additionalProperties as { properties: Record<string, Node> }
  addDefaults(properties, declared.connection.parse({}))
  for (const [name, group] of Object.entries(declared.groups))
    addDefaults((properties[name]?.properties ?? {}) as Record<string, Node>, group.parse({}))
  return { $schema, title, ...rest }
}

/** Whether a file is a schema that this program wrote, of whatever version. */
export const isSettingsSchema = (text: string): boolean => text.includes(`"title": "${title}"`)
