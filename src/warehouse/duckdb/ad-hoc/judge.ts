/** Decides by DuckDB's own parser whether a text is one query that only reads the warehouse. */
import type { DuckDBConnection } from '@duckdb/node-api'
import { MusterError, UsageError } from '../../../lib/errors.ts'
import { bareQuery, notAQuery, requireOneText, shortened } from '../../query.ts'

const beginnings = 'select, with, from, values, table, describe, summarize, show or explain'

/** Whether a query may begin with this word. The parser would report a mistyped word as some other statement. */
const isBeginning =
  /^(select|with|from|values|table|describe|desc|show|summarize|explain|unpivot|pivot)\b|^\(/i

/** EXPLAIN and its options; the rest is judged like any other query. */
const explaining = /^explain\b\s*(analyze\b\s*)?(\((?:\s*(?:analyze|format\s+\w+)\s*(?:,|(?=\))))+\)\s*)?/i

/** Table functions that read no table and reveal no more than the catalogue. All others are refused. */
const tableFunctions = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'repeat_row',
  'json_each',
  'json_tree',
  'histogram',
  'histogram_values',
  'summary',
  'pg_timezone_names',
  'pragma_table_info',
  'duckdb_tables',
  'duckdb_views',
  'duckdb_columns',
  'duckdb_constraints',
  'duckdb_indexes',
  'duckdb_sequences',
  'duckdb_dependencies',
  'duckdb_schemas',
  'duckdb_functions',
  'duckdb_types',
  'duckdb_keywords',
])

/** Functions that DuckDB marks as having side effects, but that change only their own next value. */
const harmless = `'random', 'uuid', 'uuidv4', 'uuidv7', 'gen_random_uuid', 'error', 'stats', 'current_query'`

/** Functions that reveal something about the process, or run SQL that was not judged. */
const refused = `'current_setting', 'getenv', 'getvariable', 'json_execute_serialized_sql'`

interface SerialisedSql {
  readonly error: boolean
  readonly error_type?: string
  readonly error_message?: string
  readonly statements?: readonly unknown[]
}

async function serialised(connection: DuckDBConnection, sql: string): Promise<SerialisedSql> {
  const reader = await connection.runAndReadAll('select json_serialize_sql($1::varchar)', [sql])
  return JSON.parse(String(reader.getRows()[0]?.[0])) as SerialisedSql
}

interface NamedObjects {
  readonly functions: Set<string>
  readonly tableFunctions: Set<string>
  /** Tables and views, by their last name. */
  readonly tables: Set<string>
}

/** Adds the functions of a parsed statement. Iterative, because a statement can be nested deeper than the stack. */
function functionsOf(statement: unknown): NamedObjects {
  const named: NamedObjects = { functions: new Set(), tableFunctions: new Set(), tables: new Set() }
  const open: unknown[] = [statement]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    const { type, function: table, function_name: name, table_name: from } = node as Record<string, unknown>
    if (type === 'BASE_TABLE') named.tables.add(String(from).toLowerCase())
    if (typeof name === 'string') named.functions.add(name.toLowerCase())
    if (type === 'TABLE_FUNCTION')
      named.tableFunctions.add(String((table as Record<string, unknown>)?.function_name).toLowerCase())
    for (const child of Object.values(node)) if (typeof child === 'object') open.push(child)
  }
  return named
}

const notOffered = (name: string): UsageError =>
  new UsageError({
    what: `${name}() does more than read the warehouse`,
    next: 'read tables of star, mart and ops',
  })

/** Definitions of DuckDB's own macros and views with these names, each as a query. */
async function definitionsOf(
  connection: DuckDBConnection,
  { functions, tables }: NamedObjects,
): Promise<readonly string[]> {
  const reader = await connection.runAndReadAll(
    `select 'select ' || macro_definition from duckdb_functions()
     where function_type = 'macro' and macro_definition is not null and list_contains($1::varchar[], function_name)
     union all select regexp_replace(sql, '^CREATE .*?VIEW .*? AS ', '') from duckdb_views()
     where internal and list_contains($2::varchar[], lower(view_name))`,
    [JSON.stringify([...functions]), JSON.stringify([...tables])],
  )
  return reader.getRows().map(([definition]) => String(definition))
}

/** Includes what the names are defined by, such as sleep_ms for pg_sleep; definitions may be nested. */
async function everyNamed(connection: DuckDBConnection, statement: unknown): Promise<NamedObjects> {
  const all = functionsOf(statement)
  const seen = new Set<string>()
  for (let isNew = true; isNew; ) {
    isNew = false
    for (const definition of await definitionsOf(connection, all)) {
      if (seen.has(definition)) continue
      seen.add(definition)
      isNew = true
      const named = functionsOf(await serialised(connection, definition))
      for (const name of named.functions) all.functions.add(name)
      for (const name of named.tableFunctions) all.tableFunctions.add(name)
      for (const name of named.tables) all.tables.add(name)
    }
  }
  return all
}

async function requireReading(connection: DuckDBConnection, statement: unknown): Promise<void> {
  const named = await everyNamed(connection, statement)
  for (const name of named.tableFunctions) if (!tableFunctions.has(name)) throw notOffered(name)
  const reader = await connection.runAndReadAll(
    `select function_name from duckdb_functions() where list_contains($1::varchar[], function_name)
     and (has_side_effects and function_name not in (${harmless}) or function_name in (${refused}))`,
    [JSON.stringify([...named.functions])],
  )
  const [first] = reader.getRows()
  if (first) throw notOffered(String(first[0]))
}

/** The query to run. Throws UsageError unless the text is one query, MusterError if it is not SQL. */
export async function judged(connection: DuckDBConnection, sql: string): Promise<string> {
  const bare = bareQuery(sql)
  requireOneText(bare, 'show all tables')
  if (!isBeginning.test(bare)) throw notAQuery(bare, beginnings)
  const [explain = ''] = explaining.exec(bare) ?? []
  const query = bare.slice(explain.length)
  if (!isBeginning.test(bareQuery(query))) throw notAQuery(bare, beginnings)
  const { error_type: fault, error_message: message, statements = [] } = await serialised(connection, query)
  if (fault === 'parser') throw new MusterError({ what: shortened(`Parser Error: ${message}`) })
  if (fault !== undefined) throw notAQuery(bare, beginnings)
  if (statements.length !== 1)
    throw new UsageError({
      what: `these are ${statements.length} statements`,
      next: 'give one query at a time',
    })
  await requireReading(connection, statements[0])
  return explain + query
}
