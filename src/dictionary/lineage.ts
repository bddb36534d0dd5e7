/** The source columns of each column of a SELECT, read from the tree that DuckDB parses it to. */
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'

/** A node of the parsed statement: plain JSON. */
type Node = { readonly [key: string]: unknown }

/** Names of base columns, as `star.fact_timesheet.net_hours`; of a table alone where its rows are counted. */
type Names = ReadonlySet<string>

/** An entry of a FROM clause: its columns by name, with their sources. */
interface Relation {
  readonly alias: string
  readonly columns: ReadonlyMap<string, Names>
  /** Tables whose rows it has. */
  readonly tables: Names
}

/** Result of a query: its columns in order. */
interface Shape {
  readonly columns: readonly (readonly [string, Names])[]
  readonly tables: Names
}

interface Scope {
  /** Named queries, as `with` gives them. */
  readonly named: ReadonlyMap<string, Shape>
  /** Of this query first, then those of the queries around it. */
  readonly relations: readonly Relation[]
  readonly outer: readonly Relation[]
  /** Columns of a base table. */
  readonly base: (table: string) => readonly string[]
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null
const nodes = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : [])
const node = (value: unknown): Node => (isNode(value) ? value : {})
const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')
const union = (all: readonly Names[]): Names => new Set(all.flatMap(names => [...names]))

/** All children of a node, whatever their names. */
const parts = (value: Node): readonly Node[] =>
  Object.values(value).flatMap(part => (Array.isArray(part) ? nodes(part) : isNode(part) ? [part] : []))

const asRelation = (alias: string, { columns, tables }: Shape, names: readonly string[] = []): Relation => ({
  alias,
  tables,
  columns: new Map(columns.map(([name, from], index) => [names[index] ?? name, from])),
})

function baseTable(from: Node, scope: Scope): Relation {
  const name = word(from.table_name)
  const schema = word(from.schema_name)
  const alias = word(from.alias) || name
  const query = schema === '' ? scope.named.get(name) : undefined
  if (query) return asRelation(alias, query)
  const table = `${schema}.${name}`
  const columns = new Map(scope.base(table).map(column => [column, new Set([`${table}.${column}`])]))
  return { alias, columns, tables: new Set([table]) }
}

const columnNames = (from: Node): string[] =>
  Array.isArray(from.column_name_alias) ? from.column_name_alias.map(word) : []

function relationsOf(from: Node, scope: Scope): Relation[] {
  switch (from.type) {
    case 'BASE_TABLE':
      return [baseTable(from, scope)]
    case 'JOIN': {
      const left = relationsOf(node(from.left), scope)
      // A lateral subquery sees the relations before it.
      return [...left, ...relationsOf(node(from.right), { ...scope, outer: [...left, ...scope.outer] })]
    }
    case 'SUBQUERY':
      return [asRelation(word(from.alias), shapeOf(node(from.subquery).node, scope), columnNames(from))]
    default:
      // Values and generated rows: columns of no table.
      return [{ alias: word(from.alias), columns: new Map(), tables: new Set() }]
  }
}

function ofColumn(names: readonly string[], scope: Scope): Names {
  const column = names.at(-1) ?? ''
  const alias = names.at(-2)
  const candidates = (relations: readonly Relation[]): Names[] =>
    relations
      .filter(relation => alias === undefined || relation.alias === alias)
      .flatMap(relation => relation.columns.get(column) ?? [])
  const own = candidates(scope.relations)
  return union(own.length > 0 ? own : candidates(scope.outer))
}

function ofExpression(expression: Node, scope: Scope): Names {
  if (expression.class === 'COLUMN_REF' && Array.isArray(expression.column_names))
    return ofColumn(expression.column_names.map(word), scope)
  if (expression.class === 'SUBQUERY') {
    const inner = shapeOf(node(expression.subquery).node, within(scope))
    const compared = isNode(expression.child) ? [ofExpression(expression.child, scope)] : []
    // Whether there is a row depends on the tables, not on the columns selected.
    if (expression.subquery_type === 'EXISTS') return inner.tables
    return union([...inner.columns.map(([, from]) => from), ...compared])
  }
  if (word(expression.function_name) === 'count_star')
    return union([
      ...scope.relations.map(({ tables }) => tables),
      ...parts(expression).map(part => ofExpression(part, scope)),
    ])
  return union(parts(expression).map(part => ofExpression(part, scope)))
}

/** The scope of a query inside an expression: what is around it is outer. */
const within = (scope: Scope): Scope => ({
  ...scope,
  relations: [],
  outer: [...scope.relations, ...scope.outer],
})

function ofStar(star: Node, { relations }: Scope): [string, Names][] {
  const alias = word(star.relation_name)
  return relations
    .filter(relation => alias === '' || relation.alias === alias)
    .flatMap(({ columns }) => [...columns])
}

function nameOf(expression: Node): string {
  const names = Array.isArray(expression.column_names) ? expression.column_names.map(word) : []
  return word(expression.alias) || names.at(-1) || word(expression.function_name)
}

function ofSelect(select: Node, scope: Scope): Shape {
  const relations = relationsOf(node(select.from_table), scope)
  const inner = { ...scope, relations }
  const columns = nodes(select.select_list).flatMap((expression): [string, Names][] =>
    expression.class === 'STAR'
      ? ofStar(expression, inner)
      : [[nameOf(expression), ofExpression(expression, inner)]],
  )
  return { columns, tables: union(relations.map(({ tables }) => tables)) }
}

/** Both halves have the same columns; the first names them. */
function together(shapes: readonly Shape[]): Shape {
  const first = shapes[0]?.columns ?? []
  const columns = first.map(
    ([name], index) => [name, union(shapes.map(shape => shape.columns[index]?.[1] ?? new Set()))] as const,
  )
  return { columns, tables: union(shapes.map(({ tables }) => tables)) }
}

function withNamed(query: Node, scope: Scope): Scope {
  let named = scope.named
  for (const { key, value } of nodes(node(query.cte_map).map)) {
    const { aliases, query: body } = node(value)
    const shape = shapeOf(node(body).node, { ...scope, named }, word(key))
    const names = Array.isArray(aliases) ? aliases.map(word) : []
    const columns = shape.columns.map(([name, from], index) => [names[index] ?? name, from] as const)
    named = new Map([...named, [word(key), { ...shape, columns }]])
  }
  return { ...scope, named, relations: [] }
}

/** A recursive query has the columns of its first half, and reads itself in the second. */
function ofRecursion(query: Node, scope: Scope, name: string): Shape {
  const first = shapeOf(query.left, scope)
  const second = shapeOf(query.right, { ...scope, named: new Map([...scope.named, [name, first]]) })
  return together([first, second])
}

function shapeOf(value: unknown, scope: Scope, name = ''): Shape {
  const query = node(value)
  const inner = withNamed(query, scope)
  switch (query.type) {
    case 'SELECT_NODE':
      return ofSelect(query, inner)
    case 'RECURSIVE_CTE_NODE':
      return ofRecursion(query, inner, word(query.cte_name) || name)
    case 'SET_OPERATION_NODE': {
      const halves = nodes(query.children).length > 0 ? nodes(query.children) : [query.left, query.right]
      return together(halves.map(half => shapeOf(half, inner)))
    }
    default:
      throw new Error(`no lineage of a query of the kind ${String(query.type)}`)
  }
}

/**
 * The source columns of each column of one SELECT, in its order. `columnsOf` gives the columns of a base table by its
 * qualified name. Throws when DuckDB cannot parse the text.
 */
export async function lineageOf(
  engine: Engine,
  sql: string,
  columnsOf: Scope['base'],
): Promise<readonly (readonly string[])[]> {
  const [row] = await engine.rows<{ tree: string }>(`select json_serialize_sql(${quoteText(sql)}) as tree`)
  const tree = node(JSON.parse(row?.tree ?? '{}'))
  if (tree.error !== false) throw new Error(`DuckDB cannot parse it: ${String(tree.error_message)}`)
  const scope: Scope = { named: new Map(), relations: [], outer: [], base: columnsOf }
  const { columns } = shapeOf(nodes(tree.statements)[0]?.node, scope)
  return columns.map(([, from]) => [...from].sort())
}
