/**
 * Constraints, triggers and the like that others put on tables of the warehouse: what they refuse is no fault of the rows, so
 * the failure names them.
 */
import { MusterError } from '../../../lib/errors.ts'
import { physicalTables } from '../../schema/physical.ts'
import { type SchemaName, schemaNames, tablesNamed } from '../../schema/schemas.ts'

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

/**
 * Muster itself makes primary keys, which are unique and not null, and references that are not enforced; the ledger and the
 * seeded tables have further columns that may not be null, and further indexes.
 */
const found = `
  with place as (
    select t.oid, n.nspname || '.' || t.relname as name, t.oid::regclass::text as quoted, pg_catalog.pg_get_userbyid(t.relowner)::text as owner,
      n.nspname = any(string_to_array('%schemas%', ',')) as is_ours, n.nspname || '.' || t.relname = any(string_to_array('%records%', ',')) or n.nspname = '%mart%' as is_bare,
      n.nspname = '%ops%' as is_ledger, t.relrowsecurity as is_secured
    from pg_catalog.pg_class t join pg_catalog.pg_namespace n on n.oid = t.relnamespace where t.relkind in ('r', 'p')
  ), rule(kind, name, "on", "of", removal, calls) as (
    select case contype when 'f' then 'foreign key' when 'c' then 'check constraint' when 'x' then 'exclusion constraint' else 'unique constraint' end,
      conname, conrelid, case contype when 'f' then coalesce((select oid from place where oid = confrelid and is_ours and conrelid not in (select oid from place where is_ours)), conrelid) else conrelid end,
      format('alter table %s drop constraint %I', conrelid::regclass, conname), null
    from pg_catalog.pg_constraint where contype in ('f', 'c', 'x', 'u') and to_jsonb(pg_constraint) ->> 'conenforced' is distinct from 'false'
    union all
    select case when indisunique then 'unique index' else 'index' end, relname, indrelid, indrelid, format('drop index %s', indexrelid::regclass), null
    from pg_catalog.pg_index join pg_catalog.pg_class on pg_class.oid = indexrelid join place on place.oid = indrelid
    where (indisunique or indexprs is not null or indpred is not null) and not indisprimary and not is_ledger and relname <> 'fact_webhook_event_idx'
      and not exists (select from pg_catalog.pg_constraint where conindid = indexrelid and contype in ('u', 'x'))
    union all
    select 'trigger', tgname, tgrelid, tgrelid, format('drop trigger %I on %s', tgname, tgrelid::regclass), (select proname from pg_catalog.pg_proc where oid = tgfoid)
    from pg_catalog.pg_trigger where not tgisinternal and tgenabled <> 'D'
    union all
    select case when attgenerated <> '' then 'generated column' when attnotnull then 'not null column' else 'default of column' end, attname, attrelid, attrelid,
      format(case when attgenerated <> '' then 'alter table %s drop column %I' when attnotnull then 'alter table %s alter column %I drop not null'
        else 'alter table %s alter column %I drop default' end, attrelid::regclass, attname), null
    from pg_catalog.pg_attribute join place on place.oid = attrelid
    where is_bare and attnum > 0 and not attisdropped and (attnotnull or atthasdef)
      and not exists (select from pg_catalog.pg_index where indrelid = attrelid and indisprimary and attnum = any(indkey))
    union all
    select 'row-level security policy', polname, polrelid, polrelid, format('drop policy %I on %s', polname, polrelid::regclass), null
    from pg_catalog.pg_policy join place on place.oid = polrelid where is_secured
    union all
    select 'rule', rulename, ev_class, ev_class, format('drop rule %I on %s', rulename, ev_class::regclass), null
    from pg_catalog.pg_rewrite where ev_enabled <> 'D'
  )
  select kind, rule.name::text as name, placed.quoted as place, placed.name as "on", ours.name as "of", placed.owner as owner, removal, calls::text as calls
  from rule join place as placed on placed.oid = rule."on" join place as ours on ours.oid = rule."of"
  where ours.is_ours`

function rulesQuery(schema: (name: SchemaName) => string): string {
  const records = physicalTables.map(table => `${schema(table.schema)}.${table.name}`)
  return found
    .replaceAll('%schemas%', () => schemaNames.map(schema).join())
    .replaceAll('%records%', () => records.join())
    .replaceAll('%mart%', () => schema('mart'))
    .replaceAll('%ops%', () => schema('ops'))
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

const named = (text: string, name: string): boolean => text.split(/[^\p{L}\p{N}_$]+/u).includes(name)

/** Errors that an expression or a function may end with, and that no constraint is named for. */
const ofExpressions = /^(22|2F|38|39|54|P0)/

const isPolicy = ({ kind }: Rule): boolean => kind === 'row-level security policy'

/** The rule that refused, of those on the tables of the statement; undefined when the rows or Muster are to blame. */
function blamedRule(rules: readonly Rule[], failed: Failed, tables?: readonly string[]): Rule | undefined {
  const exact = rules.find(
    ({ kind, name, on }) =>
      on === `${failed.schema}.${failed.table}` &&
      (name === failed.constraint || (kind === 'not null column' && name === failed.column)),
  )
  if (exact) return exact
  const near = tables ? rules.filter(({ of }) => tables.includes(of)) : rules
  if (/^(ExecWithCheckOptions|check_enable_rls)$/.test(failed.routine ?? '')) return near.find(isPolicy)
  const called = near.find(({ calls }) => calls !== null && named(failed.where ?? '', calls))
  if (called) return called
  const mayRaise = near.filter(
    rule => !isPolicy(rule) && !/^(not null|foreign|unique|exclusion)/.test(rule.kind),
  )
  return ofExpressions.test(failed.code) ? mayRaise[0] : undefined
}

/** Of classes that a rule can raise; a trigger's function can raise any, and is named where it happened. */
const mayBeForeign = ({ code, where, routine }: Partial<Failed>): boolean =>
  typeof code === 'string' &&
  (/^23/.test(code) ||
    ofExpressions.test(code) ||
    Boolean(where) ||
    /ExecWithCheckOptions|check_enable_rls/.test(routine ?? ''))

interface Asked {
  readonly location: string
  readonly schema: (name: SchemaName) => string
  /** With plain names of schemas; undefined for a commit, which checks what was deferred. */
  readonly sql: string | undefined
  readonly rows: (sql: string) => Promise<Rule[]>
}

/** A MusterError when what others put on the tables refused the statement; the error itself otherwise. */
export async function explainForeign(
  error: unknown,
  { location, schema, sql, rows }: Asked,
): Promise<unknown> {
  const failed = Object(error) as Failed
  if (!mayBeForeign(failed)) return error
  const tables =
    sql === undefined
      ? undefined
      : tablesNamed(sql).map(name => {
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
