/**
 * Finds constraints, triggers and other rules that were added to warehouse tables: if one rejects a row, the row is not at
 * fault, and the error names the rule.
 */
import { MusterError } from '../../../lib/errors.ts'
import { physicalTables } from '../../schema/physical.ts'
import { type SchemaName, schemaNames, tablesNamed } from '../../schema/schemas.ts'

/** A rule on a table that Muster did not create. */
export interface ForeignRule {
  readonly kind: string
  readonly name: string
  /** Its table as `schema.table`, quoted where it must be. */
  readonly place: string
  /** Schema and name of that table, and of the warehouse table whose writes it blocks. */
  readonly on: string
  readonly of: string
  readonly owner: string
  /** The statement that removes it. */
  readonly removal: string
  /** For a trigger, its function. */
  readonly calls: string | null
}

/**
 * Selects rules that are not Muster's. Muster creates primary keys and references that are not enforced; in the ledger and the
 * seed tables also indexes and not null columns.
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

/** Fields of a server error; names and codes are the same in every language. */
export interface ServerFailure {
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

/** Errors raised by expressions or functions; they name no constraint. */
const ofExpressions = /^(22|2F|38|39|54|P0)/

/**
 * Lost connections, timeouts, deadlocks, full disks, shutdowns, crashes and bugs of the server: they interrupt any statement,
 * often within a trigger's function, which is not the cause.
 */
const ofServer = /^(08|25P0|40|53|55P03|57|58|XX)/

const isPolicy = ({ kind }: ForeignRule): boolean => kind === 'row-level security policy'

/** Whether a rule can raise the error. A trigger's function can raise any; `where` names it. */
const mayBeForeign = ({ code, where, routine }: Partial<ServerFailure>): boolean =>
  typeof code === 'string' &&
  !ofServer.test(code) &&
  (/^23/.test(code) ||
    ofExpressions.test(code) ||
    Boolean(where) ||
    /ExecWithCheckOptions|check_enable_rls/.test(routine ?? ''))

/** The rule on the statement's tables that rejected it; undefined if the rows, the server or Muster are at fault. */
export function blamedRule(
  rules: readonly ForeignRule[],
  failed: ServerFailure,
  tables?: readonly string[],
): ForeignRule | undefined {
  if (!mayBeForeign(failed)) return undefined
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

interface RuleSearch {
  readonly location: string
  readonly schema: (name: SchemaName) => string
  /** The statement, with plain schema names; undefined for a commit, which runs deferred checks. */
  readonly sql: string | undefined
  readonly rows: (sql: string) => Promise<ForeignRule[]>
}

/** Returns a MusterError if a foreign rule rejected the statement, else the error itself. */
export async function explainForeign(
  error: unknown,
  { location, schema, sql, rows }: RuleSearch,
): Promise<unknown> {
  const failed = Object(error) as ServerFailure
  if (!mayBeForeign(failed)) return error
  const tables =
    sql === undefined
      ? undefined
      : tablesNamed(sql).map(name => {
          const [first = '', second = ''] = name.split('.')
          return `${schema(first as SchemaName)}.${second}`
        })
  // If the rules cannot be read, the failure itself is reported.
  const rules = await rows(rulesQuery(schema)).catch(() => [])
  const rule = blamedRule(rules, failed, tables)
  if (!rule) return error
  const isElsewhere = rule.on !== rule.of
  return new MusterError({
    what: `the ${rule.kind} ${rule.name} of ${rule.place} (owner ${rule.owner}), which is not Muster's, rejects ${isElsewhere ? `changes of ${rule.of}` : 'its rows'}`,
    where: location,
    next: `${rule.removal}; nothing of the batch was written, and the records are not at fault`,
    cause: error,
  })
}
