/**
 * Constraints, triggers and the like that others put on tables of the warehouse: what they refuse is no fault of the rows, so
 * the failure names them.
 */
import { MusterError } from '../../lib/errors.ts'
import { physicalTables } from '../schema/physical.ts'
import { type SchemaName, schemaNames, tablesNamed } from '../schema/schemas.ts'
import { quoteText } from '../sql-text.ts'

/** Something on a table that no declaration of Muster makes. */
interface Rule {
  readonly kind: string
  readonly name: string
  /** Its table as `schema.table`, quoted where it must be. */
  readonly place: string
  /** Schema and name of that table, and of the one of the warehouse that it keeps from being written. */
  readonly on: string
  readonly of: string
  readonly owner: string
  /** The statement that takes it away. */
  readonly removal: string
  /** Of a trigger: its function. */
  readonly calls: string | null
}

const nameOf = (oid: string): string =>
  `(select n.nspname || '.' || c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = ${oid})`

const ownerOf = (oid: string): string =>
  `(select pg_catalog.pg_get_userbyid(relowner)::text from pg_catalog.pg_class where oid = ${oid})`

/** What Muster makes: primary keys, which are unique and not null, and references that are not enforced. */
function rulesQuery(schema: (name: SchemaName) => string): string {
  const places = (names: readonly SchemaName[]): string =>
    `(select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname in (${names.map(name => quoteText(schema(name))).join(', ')}))`
  const all = places(schemaNames)
  // Those of the ledger and of seeded tables are declared with further columns that may not be null, and with further indexes.
  const data = places(['star', 'history', 'pii', 'mart'])
  const records = physicalTables.map(table => quoteText(`${schema(table.schema)}.${table.name}`)).join(', ')
  const isRecord = `(${nameOf('a.attrelid')} in (${records}) or a.attrelid in ${places(['mart'])})`
  const one = (kind: string, name: string, on: string, of: string, removal: string, calls = 'null'): string =>
    `select ${kind} as kind, ${name}::text as name, ${on}::regclass::text as place, ${nameOf(on)} as "on", ${nameOf(of)} as "of", ${ownerOf(on)} as owner, ${removal} as removal, ${calls}::text as calls`
  return [
    `${one(
      `case c.contype when 'f' then 'foreign key' when 'c' then 'check constraint' when 'x' then 'exclusion constraint' when 'u' then 'unique constraint' else 'primary key' end`,
      'c.conname',
      'c.conrelid',
      `case when c.confrelid in ${all} then c.confrelid else c.conrelid end`,
      `format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname)`,
    )} from pg_catalog.pg_constraint c
     where c.contype in ('f', 'c', 'x', 'u') and (c.conrelid in ${all} or c.confrelid in ${all})
       and to_jsonb(c) ->> 'conenforced' is distinct from 'false'`,
    `${one(
      `case when i.indisunique then 'unique index' else 'index' end`,
      'x.relname',
      'i.indrelid',
      'i.indrelid',
      `format('drop index %s', i.indexrelid::regclass)`,
    )} from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid
     where i.indrelid in ${data} and (i.indisunique or i.indexprs is not null or i.indpred is not null) and not i.indisprimary
       and x.relname <> 'fact_webhook_event_idx'
       and not exists (select from pg_catalog.pg_constraint c where c.conindid = i.indexrelid and c.contype in ('u', 'x'))`,
    `${one(
      `'trigger'`,
      't.tgname',
      't.tgrelid',
      't.tgrelid',
      `format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass)`,
      '(select proname from pg_catalog.pg_proc where oid = t.tgfoid)',
    )} from pg_catalog.pg_trigger t where t.tgrelid in ${all} and not t.tgisinternal and t.tgenabled <> 'D'`,
    `${one(
      `case when a.attgenerated <> '' then 'generated column' when a.attnotnull then 'not null column' else 'default of column' end`,
      'a.attname',
      'a.attrelid',
      'a.attrelid',
      `format(case when a.attgenerated <> '' then 'alter table %s drop column %I' when a.attnotnull then 'alter table %s alter column %I drop not null' else 'alter table %s alter column %I drop default' end, a.attrelid::regclass, a.attname)`,
    )} from pg_catalog.pg_attribute a
     where a.attnum > 0 and not a.attisdropped and (a.attnotnull or a.atthasdef or a.attgenerated <> '') and ${isRecord}
       and not exists (select from pg_catalog.pg_index i where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey))`,
    `${one(
      `'row-level security policy'`,
      'p.polname',
      'p.polrelid',
      'p.polrelid',
      `format('drop policy %I on %s', p.polname, p.polrelid::regclass)`,
    )} from pg_catalog.pg_policy p join pg_catalog.pg_class t on t.oid = p.polrelid where p.polrelid in ${all} and t.relrowsecurity`,
    `${one(
      `'rule'`,
      'r.rulename',
      'r.ev_class',
      'r.ev_class',
      `format('drop rule %I on %s', r.rulename, r.ev_class::regclass)`,
    )} from pg_catalog.pg_rewrite r where r.ev_class in ${all} and r.ev_enabled <> 'D'`,
  ].join('\nunion all\n')
}

/** What the server says of a failure; names and codes, which are the same in every language. */
interface Failed {
  readonly code: string
  readonly message: string
  readonly schema?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  readonly routine?: string
  /** Where it happened, as `PL/pgSQL function note() line 3 at RAISE`. */
  readonly where?: string
}

const named = (text: string, name: string): boolean =>
  text.split(/[^\p{L}\p{N}_$]+/u).includes(name)

/** Errors that an expression or a function may end with, and that no constraint is named for. */
const ofExpressions = /^(22|2F|38|39|54|P0)/

const isPolicy = ({ kind }: Rule): boolean => kind === 'row-level security policy'

/** The rule that refused, of those on the tables of the statement; undefined when the rows or Muster are to blame. */
export function blamedRule(rules: readonly Rule[], failed: Failed, tables?: readonly string[]): Rule | undefined {
  const at = `${failed.schema}.${failed.table}`
  if (failed.constraint !== undefined)
    return rules.find(({ name, on }) => name === failed.constraint && on === at)
  if (failed.code === '23502')
    return rules.find(({ kind, name, on }) => kind === 'not null column' && name === failed.column && on === at)
  const near = tables ? rules.filter(({ of }) => tables.includes(of)) : rules
  if (/^(ExecWithCheckOptions|check_enable_rls)$/.test(failed.routine ?? '')) return near.find(isPolicy)
  const called = near.find(({ calls }) => calls !== null && named(failed.where ?? '', calls))
  if (called) return called
  const mayRaise = near.filter(rule => !isPolicy(rule) && !/^(not null|foreign|unique|exclusion)/.test(rule.kind))
  return ofExpressions.test(failed.code) ? mayRaise[0] : undefined
}

/** Of classes that a rule can raise; a trigger's function can raise any, and is named where it happened. */
const mayBeForeign = ({ code, where, routine }: Partial<Failed>): boolean =>
  typeof code === 'string' &&
  (/^23/.test(code) || ofExpressions.test(code) || Boolean(where) || /ExecWithCheckOptions|check_enable_rls/.test(routine ?? ''))

interface Asked {
  readonly location: string
  readonly schema: (name: SchemaName) => string
  /** With plain names of schemas; undefined for a commit, which checks what was deferred. */
  readonly sql: string | undefined
  readonly rows: (sql: string) => Promise<Rule[]>
}

/** A MusterError when what others put on the tables refused the statement; the error itself otherwise. */
export async function explainForeign(error: unknown, { location, schema, sql, rows }: Asked): Promise<unknown> {
  const failed = Object(error) as Failed
  if (!mayBeForeign(failed)) return error
  const tables = sql === undefined ? undefined : tablesNamed(sql).map(name => {
    const [first = '', second = ''] = name.split('.')
    return `${schema(first as SchemaName)}.${second}`
  })
  // The failure itself is what has to be reported, also when nobody can be asked about it.
  const rules = await rows(rulesQuery(schema)).catch(() => [])
  const rule = blamedRule(rules, failed, tables)
  if (!rule) return error
  const isElsewhere = rule.on !== rule.of
  return new MusterError({
    what: `the ${rule.kind} ${rule.name} of ${rule.place} (owner ${rule.owner}), which is not Muster's, refuses ${isElsewhere ? `changes of ${rule.of}` : 'its rows'}`,
    where: location,
    next: `${rule.removal}; nothing of the batch was written, and the records are not at fault`,
    cause: error,
  })
}
