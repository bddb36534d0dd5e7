/** Decides whether a text is one query that only reads, before the server does: it alone can parse SQL. */
import type pg from 'pg'
import { UsageError } from '../../../lib/errors.ts'
import { bareQuery, notAQuery, requireOneText } from '../../query.ts'

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

/** Functions that change nothing but their next value, or only look. All other volatile ones are refused. */
const harmless = `'random', 'random_normal', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'clock_timestamp', 'timeofday',
  'pg_relation_size', 'pg_table_size', 'pg_indexes_size', 'pg_total_relation_size', 'pg_database_size'`

/**
 * The server says which functions are volatile. A name counts wherever it is written, also in a text or a comment: to
 * tell those apart takes the server's own parser, and some functions run a text.
 */
const volatile = `select proname from pg_catalog.pg_proc where provolatile = 'v' and lower(proname::text) = any($1::text[])
  and proname not in (${harmless}) order by proname limit 1`

async function requireReading(client: pg.Client, bare: string): Promise<void> {
  if (/u&"/i.test(bare))
    throw new UsageError({ what: 'names in U&"..." are not read here', next: 'write the name itself' })
  const words = new Set(bare.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [])
  const { rows } = await client.query<{ proname: string }>(volatile, [[...words]])
  const [found] = rows
  if (found)
    throw new UsageError({
      what: `${found.proname} does more than read the warehouse, and the query names it`,
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
