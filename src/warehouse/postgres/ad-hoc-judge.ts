/** Decides whether a text may be one query that only reads; the server, which can parse SQL, decides again. */

import type pg from 'pg'
import { UsageError } from '../../lib/errors.ts'
import { bareQuery, notAQuery, requireOneText } from '../query.ts'
import { tokensOf } from '../sql-tokens.ts'

interface NamedCalls {
  /** Functions refused with any argument: `name(...)` or the equivalent `(value).name`. All these names are in lower case. */
  readonly functions: readonly string[]
  /** Functions that take a row: `table.name` is a column, or a call with the row of the table. */
  readonly ofRows: readonly string[]
  /** Every word and name anywhere, including texts and comments. */
  readonly words: readonly string[]
}

const plainName = (text: string): string =>
  text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"')

export function callsIn(sql: string): NamedCalls {
  const functions = new Set<string>()
  const ofRows = new Set<string>()
  let last: string | undefined
  let isDotted = false
  let isOfValue = true
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === 'space') continue
    if (kind === 'word' || kind === 'name') {
      last = (kind === 'name' ? plainName(text) : text).toLowerCase()
      if (!isDotted) isOfValue = false
      else if (isOfValue) functions.add(last)
      else ofRows.add(last)
      isDotted = false
      continue
    }
    if (text === '(' && last !== undefined) functions.add(last)
    isDotted = text === '.'
    if (!isDotted) isOfValue = true
    last = undefined
  }
  const words = new Set(sql.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [])
  return { functions: [...functions], ofRows: [...ofRows], words: [...words] }
}

/** Whether a name is written as U&"...", with letters as code numbers. */
export function hasNumberedName(sql: string): boolean {
  const code = [...tokensOf(sql)].map(({ kind, text }) =>
    kind === 'text' ? "''" : kind === 'space' ? ' ' : text,
  )
  return /u&"/i.test(code.join(''))
}

const beginnings = 'select, with, values, table, show or explain'
const selecting = /^(select|with|values|table)\b|^\(/i
const showing = /^show\s+[\w.\s]+$/i

/** What to run: a statement that the server must accept for a cursor, or the value of a setting. */
export interface JudgedStatement {
  readonly select?: string
  /** Runs instead of `select`, once the server has accepted `select`. */
  readonly reports?: string
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

/** Volatile functions that only change their own next value, look, or sample a table. All others are refused. */
const harmless = `'random', 'random_normal', 'gen_random_uuid', 'uuidv4', 'uuidv7', 'clock_timestamp', 'timeofday',
  'pg_relation_size', 'pg_table_size', 'pg_indexes_size', 'pg_total_relation_size', 'pg_database_size',
  'system', 'bernoulli'`

/**
 * Selects the volatile functions. A function takes a row if it takes a composite type, a domain or a pseudo-type. A function
 * that is not built in may run a text as SQL, so a query that calls one is searched for names everywhere.
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
    throw new UsageError({ what: 'names in U&"..." are not supported here', next: 'write the name itself' })
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
export async function judged(client: pg.Client, sql: string): Promise<JudgedStatement> {
  const bare = bareQuery(sql)
  requireOneText(bare, 'select count(*) from star.dim_company')
  if (showing.test(bare)) return { reports: bare }
  const explain = explained(bare)
  const select = bareQuery(explain?.rest ?? bare)
  if (!selecting.test(select)) throw notAQuery(bare, beginnings)
  await requireReading(client, bare)
  return explain ? { select, reports: `explain ${explain.options} ${select}` } : { select }
}
