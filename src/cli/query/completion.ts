/** Completes the names of tables and columns, and the words of SQL, as they are typed. */
import type { QuerySession } from '../../warehouse/query.ts'

export interface Names {
  /** With their schemas. */
  readonly tables: readonly string[]
  /** By table; the table without its schema counts as well. */
  readonly columns: ReadonlyMap<string, readonly string[]>
}

export const noNames: Names = { tables: [], columns: new Map() }

const words = [
  'select',
  'from',
  'where',
  'group by',
  'order by',
  'having',
  'limit',
  'join',
  'left join',
  'on',
  'using',
  'with',
  'as',
  'and',
  'or',
  'not',
  'in',
  'between',
  'like',
  'is null',
  'is not null',
  'case',
  'when',
  'then',
  'else',
  'end',
  'distinct',
  'count(*)',
  'sum(',
  'avg(',
  'min(',
  'max(',
  'cast(',
  'union all',
  'desc',
]

const mostColumns = 100_000

/** Of both engines. */
const catalogue = `select table_schema, table_name, column_name from information_schema.columns
  where table_schema not in ('information_schema', 'pg_catalog') order by table_schema, table_name, ordinal_position`

export async function namesIn(session: QuerySession): Promise<Names> {
  const { rows } = await session.query(catalogue, mostColumns)
  const columns = new Map<string, string[]>()
  for (const { table_schema: schema, table_name: table, column_name: column } of rows)
    for (const name of [`${schema}.${table}`, String(table)])
      columns.set(name, [...(columns.get(name) ?? []), String(column)])
  return { tables: [...columns.keys()].filter(name => name.includes('.')), columns }
}

/** The columns of the tables that the query names, else of none. */
function columnsFor(query: string, { columns }: Names): string[] {
  const named = query.toLowerCase().match(/[\w.]+/g) ?? []
  return [...new Set(named.flatMap(name => columns.get(name) ?? []))]
}

/** As readline asks for it: what the end of the text may become, and that end. */
export function completionsOf(before: string, text: string, names: Names): [string[], string] {
  const [end = ''] = /[\w.]*$/.exec(text) ?? []
  const [, table, start = ''] = /^((?:\w+\.)*\w+)\.(\w*)$/.exec(end) ?? []
  const ofTable = (table && names.columns.get(table.toLowerCase())) || []
  if (ofTable.length > 0)
    return [ofTable.filter(one => one.startsWith(start)).map(one => `${table}.${one}`), end]
  if (end === '') return [[], end]
  const known = [...columnsFor(`${before} ${text}`, names), ...names.tables, ...words]
  return [known.filter(one => one.startsWith(end.toLowerCase())), end]
}
