/** Decides whether a text is one query that only reads, before the server does: it alone can parse SQL. */
import type pg from 'pg'
import { UsageError } from '../../../lib/errors.ts'
import { bareQuery, notAQuery, requireOneText } from '../../query.ts'
import { callsIn, hasNumberedName } from './calls.ts'

const beginnings = 'select, with, values, table, show or explain'
const selecting = /^(select|with|values|table)\b|^\(/i
const showing = /^show\s+[\w.\s]+$/i

/** What to run: a statement that the server must accept for a cursor, or the value of a setting. */
export interface Judged {
  readonly select?: string
  /** Runs instead of `select`, once the server has accepted that. */
  readonly tells?: string
}

const explainOption = /^\s*[a-z_]+(\s+[a-z0-9_]+)?\s*$/i

/** The options of EXPLAIN and what it explains; undefined for another statement. */
function explained(bare: string): { readonly options: string; readonly rest: string } | undefined {
  const [head] = /^explain\b\s*/i.exec(bare) ?? []
  if (head === undefined) return undefined
  const after = bare.slice(head.length)
  const [listed, inside = ''] = /^\(([^()]*)\)/.exec(after) ?? []
  const rest = listed === undefined ? '' : bareQuery(after.slice(listed.length))
  if (rest !== '' && inside.split(',').every(option => explainOption.test(option)))
    return { options: `(${inside})`, rest }
  const [words = ''] = /^(analyze\b\s*)?(verbose\b\s*)?/i.exec(after) ?? []
  return { options: words, rest: after.slice(words.length) }
}

/** Functions that change nothing but their next value, only look, or sample a table. All other volatile ones are refused. */
const harmless = `'random', 'random_normal', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'clock_timestamp', 'timeofday',
  'pg_relation_size', 'pg_table_size', 'pg_indexes_size', 'pg_total_relation_size', 'pg_database_size',
  'system', 'bernoulli'`

/**
 * The server says which functions are volatile. What takes a row takes a value of a composite type, of a domain or of a
 * pseudo-type. A function that is not the server's own may run a text, so that beside one a name counts wherever it is.
 */
const volatile = `select proname from pg_catalog.pg_proc p where provolatile = 'v' and proname not in (${harmless})
  and (lower(proname::text) = any($1::text[])
    or lower(proname::text) = any($2::text[]) and exists (select from pg_catalog.pg_type t
      where t.oid = any(p.proargtypes) and t.typtype in ('c', 'd', 'p'))
    or lower(proname::text) = any($3::text[]) and exists (select from pg_catalog.pg_proc other
      where other.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace
        and lower(other.proname::text) = any($1::text[] || $2::text[])))
  order by proname limit 1`

async function requireReading(client: pg.Client, bare: string): Promise<void> {
  if (hasNumberedName(bare))
    throw new UsageError({ what: 'names in U&"..." are not read here', next: 'write the name itself' })
  const { functions, ofRows, words } = callsIn(bare)
  const { rows } = await client.query<{ proname: string }>(volatile, [functions, ofRows, words])
  const [found] = rows
  if (found)
    throw new UsageError({
      what: `${found.proname}() does more than read the warehouse`,
      next: 'read tables of star, mart and ops',
    })
}

/** Throws UsageError unless the text can be one query that only reads. */
export async function judged(client: pg.Client, sql: string): Promise<Judged> {
  const bare = bareQuery(sql)
  requireOneText(bare, 'select count(*) from star.dim_company')
  if (showing.test(bare)) return { tells: bare }
  const explain = explained(bare)
  const select = bareQuery(explain?.rest ?? bare)
  if (!selecting.test(select)) throw notAQuery(bare, beginnings)
  await requireReading(client, bare)
  return explain ? { select, tells: `explain ${explain.options} ${select}` } : { select }
}
