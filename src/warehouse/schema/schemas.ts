/** Names the schemas of a warehouse, and adds the prefix to schema names in statements. */

export const schemaNames = ['star', 'mart', 'history', 'pii', 'ops'] as const
export type SchemaName = (typeof schemaNames)[number]

/**
 * Lower case, so that the name is the same quoted and bare; short enough for PostgreSQL's 63 bytes, including what
 * the schemas of a rebuild have in front, such as `replay_0a1b2c_`.
 */
const validPrefix = /^(?!pg_)[a-z][a-z0-9_]{0,39}([a-z]+_[0-9a-f]{6}_)?$/

export const isSchemaPrefix = (text: string): boolean => validPrefix.test(text)

/** Splits a statement into tokens, enough to find schemas: a string or a comment is one token. */
const tokens =
  /'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|[A-Za-z_][\w$]*|\.|\s+|./g

const isSchema = new Set<string>(schemaNames)

/**
 * The statement with `prefix` before the name of every schema. A schema is one of the five names, bare or quoted, with a dot
 * after it and none before it; aliases and columns never have these names.
 */
export function withPrefix(sql: string, prefix: string): string {
  if (prefix === '') return sql
  const parts = sql.match(tokens) ?? []
  return parts
    .map((part, index) => {
      const bare = part.startsWith('"') ? part.slice(1, -1) : part
      if (!isSchema.has(bare) || parts[index + 1] !== '.' || parts[index - 1] === '.') return part
      return part === bare ? prefix + bare : `"${prefix}${bare}"`
    })
    .join('')
}

/** Tables and views that the statement names with their schema, such as `star.fact_timesheet`, sorted. */
export function tablesNamed(sql: string): string[] {
  const parts = sql.match(tokens) ?? []
  const bare = (part = ''): string => (part.startsWith('"') ? part.slice(1, -1) : part)
  const names = parts.flatMap((part, index) => {
    const isTable = isSchema.has(bare(part)) && parts[index + 1] === '.' && parts[index - 1] !== '.'
    return isTable ? [`${bare(part)}.${bare(parts[index + 2])}`] : []
  })
  return [...new Set(names)].sort()
}
