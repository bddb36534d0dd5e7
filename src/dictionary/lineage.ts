/** Finds the source columns of each column of a SELECT, from DuckDB's parse tree. */
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'

/** A node of the parsed statement: plain JSON. */
type SqlNode = { readonly [key: string]: unknown }

/** Names of base columns, as `star.fact_timesheet.net_hours`; of a table alone where its rows are counted. */
type ColumnNames = ReadonlySet<string>

/** An entry of a FROM clause: its columns by name, with their sources. */
interface FromRelation {
  readonly alias: string
  readonly columns: ReadonlyMap<string, ColumnNames>
  /** Tables whose rows it has. */
  readonly tables: ColumnNames
}

/** Result of a query: its columns in order. */
interface QueryShape {
  readonly columns: readonly (readonly [string, ColumnNames])[]
  readonly tables: ColumnNames
}

interface QueryScope {
  /** Named queries, as `with` gives them. */
  readonly named: ReadonlyMap<string, QueryShape>
  /** Relations of this query first, then those of the queries around it. */
  readonly relations: readonly FromRelation[]
  readonly outer: readonly FromRelation[]
  /** Columns of a base table. */
  readonly base: (table: string) => readonly string[]
}

const isNode = (value: unknown): value is SqlNode => typeof value === 'object' && value !== null
const nodes = (value: unknown): readonly SqlNode[] => (Array.isArray(value) ? value.filter(isNode) : [])
const node = (value: unknown): SqlNode => (isNode(value) ? value : {})
const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')
const union = (all: readonly ColumnNames[]): ColumnNames => new Set(all.flatMap(names => [...names]))

/** All children of a node, under any name. */
const parts = (value: SqlNode): readonly SqlNode[] =>
  Object.values(value).flatMap(part => (Array.isArray(part) ? nodes(part) : isNode(part) ? [part] : []))

const asRelation = (
  alias: string,
  { columns, tables }: QueryShape,
  names: readonly string[] = [],
): FromRelation => ({
  alias,
  tables,
  columns: new Map(columns.map(([name, from], index) => [names[index] ?? name, from])),
})

function baseTable(from: SqlNode, scope: QueryScope): FromRelation {
  const name = word(from.table_name)
  const schema = word(from.schema_name)
  const alias = word(from.alias) || name
  const query = schema === '' ? scope.named.get(name) : undefined
  if (query) return asRelation(alias, query)
  const table = `${schema}.${name}`
  const columns = new Map(scope.base(table).map(column => [column, new Set([`${table}.${column}`])]))
  return { alias, columns, tables: new Set([table]) }
}

const columnNames = (from: SqlNode): string[] =>
  Array.isArray(from.column_name_alias) ? from.column_name_alias.map(word) : []

function relationsOf(from: SqlNode, scope: QueryScope): FromRelation[] {
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

function ofColumn(names: readonly string[], scope: QueryScope): ColumnNames {
  const column = names.at(-1) ?? ''
  const alias = names.at(-2)
  const candidates = (relations: readonly FromRelation[]): ColumnNames[] =>
    relations
      .filter(relation => alias === undefined || relation.alias === alias)
      .flatMap(relation => relation.columns.get(column) ?? [])
  const own = candidates(scope.relations)
  return union(own.length > 0 ? own : candidates(scope.outer))
}

function ofExpression(expression: SqlNode, scope: QueryScope): ColumnNames {
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

/** The scope of a query inside an expression: surrounding relations become outer. */
const within = (scope: QueryScope): QueryScope => ({
  ...scope,
  relations: [],
  outer: [...scope.relations, ...scope.outer],
})

function ofStar(star: SqlNode, { relations }: QueryScope): [string, ColumnNames][] {
  const alias = word(star.relation_name)
  return relations
    .filter(relation => alias === '' || relation.alias === alias)
    .flatMap(({ columns }) => [...columns])
}

function nameOf(expression: SqlNode): string {
  const names = Array.isArray(expression.column_names) ? expression.column_names.map(word) : []
  return word(expression.alias) || names.at(-1) || word(expression.function_name)
}

function ofSelect(select: SqlNode, scope: QueryScope): QueryShape {
  const relations = relationsOf(node(select.from_table), scope)
  const inner = { ...scope, relations }
  const columns = nodes(select.select_list).flatMap((expression): [string, ColumnNames][] =>
    expression.class === 'STAR'
      ? ofStar(expression, inner)
      : [[nameOf(expression), ofExpression(expression, inner)]],
  )
  return { columns, tables: union(relations.map(({ tables }) => tables)) }
}

/** Both halves have the same columns; the first names them. */
function together(shapes: readonly QueryShape[]): QueryShape {
  const first = shapes[0]?.columns ?? []
  const columns = first.map(
    ([name], index) => [name, union(shapes.map(shape => shape.columns[index]?.[1] ?? new Set()))] as const,
  )
  return { columns, tables: union(shapes.map(({ tables }) => tables)) }
}

function withNamed(query: SqlNode, scope: QueryScope): QueryScope {
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
function ofRecursion(query: SqlNode, scope: QueryScope, name: string): QueryShape {
  const first = shapeOf(query.left, scope)
  const second = shapeOf(query.right, { ...scope, named: new Map([...scope.named, [name, first]]) })
  return together([first, second])
}

function shapeOf(value: unknown, scope: QueryScope, name = ''): QueryShape {
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
      throw new Error(`lineage does not support a query of type ${String(query.type)}`)
  }
}

/**
 * The source columns of each column of one SELECT, in its order. `columnsOf` gives the columns of a base table by its
 * qualified name. Throws when DuckDB cannot parse the text.
 */
export async function lineageOf(
  engine: Engine,
  sql: string,
  columnsOf: QueryScope['base'],
): Promise<readonly (readonly string[])[]> {
  const [row] = await engine.rows<{ tree: string }>(`select json_serialize_sql(${quoteText(sql)}) as tree`)
  const tree = node(JSON.parse(row?.tree ?? '{}'))
  if (tree.error !== false) throw new Error(`DuckDB cannot parse it: ${String(tree.error_message)}`)
  const scope: QueryScope = { named: new Map(), relations: [], outer: [], base: columnsOf }
  const { columns } = shapeOf(nodes(tree.statements)[0]?.node, scope)
  return columns.map(([, from]) => [...from].sort())
}
