/** Reads PostgreSQL's catalogue: comments, columns, foreign keys, and the rights of this user. */
import { MusterError } from '../../lib/errors.ts'
import type { DescribedColumn, Engine } from '../engine.ts'
import { type SchemaName, schemaNames } from '../schema/schemas.ts'
import { quoteName, quoteText } from '../sql-text.ts'

type SchemaReader = Pick<Engine, 'rows' | 'schema' | 'location'>

/**
 * Throws MusterError if there is a ledger that this user may not read: ops is not for readers, because quarantine and
 * inbox hold complete records.
 */
async function requireLedger(engine: SchemaReader): Promise<void> {
  const [ledger] = await engine.rows<{ user: string; may_use: boolean }>(
    `select current_user::text as user, pg_catalog.has_schema_privilege(oid, 'usage') as may_use
     from pg_catalog.pg_namespace where nspname = $1`,
    [engine.schema('ops')],
  )
  if (!ledger || ledger.may_use) return
  throw new MusterError({
    what: `${ledger.user} may not read ${engine.schema('ops')}, where runs and the state of every resource are kept`,
    where: engine.location,
    next: `connect as the loader or the owner; ${engine.schema('mart')}.data_health also shows how fresh and complete the data is`,
  })
}

/** Throws MusterError before anything is tried; the message names the role to connect as. */
async function requireOwner(engine: SchemaReader): Promise<void> {
  await requireLedger(engine)
  const names = schemaNames.map(name => engine.schema(name))
  const [row] = await engine.rows<{ owned: number; others: number; may_create: boolean }>(
    `select count(*) filter (where pg_catalog.pg_has_role(nspowner, 'usage')) as owned,
       count(*) filter (where not pg_catalog.pg_has_role(nspowner, 'usage')) as others,
       has_database_privilege(current_database(), 'create') as may_create
     from pg_catalog.pg_namespace where nspname = any(string_to_array($1, ','))`,
    [names.join(',')],
  )
  const isComplete = Number(row?.owned) === names.length
  if (Number(row?.others) === 0 && (isComplete || row?.may_create)) return
  throw new MusterError({
    what: 'this version must create or change tables of the warehouse, which this user may not do',
    where: engine.location,
    next: 'run muster sync once as the owner role, then continue with this one',
  })
}

/** Such as 18.1. */
export async function serverVersion(engine: Engine): Promise<string> {
  const [server] = await engine.rows<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  return server?.version.split(' ')[0] ?? ''
}

/** Whether this user may insert into the ledger, or create schemas if there is no ledger yet. */
export async function mayWrite(engine: Engine, hasLedger: boolean): Promise<boolean> {
  const [row] = hasLedger
    ? await engine.rows<{ may: boolean }>(`select has_table_privilege($1, 'insert') as may`, [
        `${engine.schema('ops')}.run`,
      ])
    : await engine.rows<{ may: boolean }>(
        `select has_database_privilege(current_database(), 'create') as may`,
      )
  return row?.may === true
}

const comments = `select concat_ws('.', n.nspname, c.relname, a.attname) as place, d.description as comment
  from pg_catalog.pg_description d
  join pg_catalog.pg_class c on c.oid = d.objoid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0
  where d.classoid = 'pg_catalog.pg_class'::regclass`

const describedColumns = `
  select n.nspname::text as schema, c.relname::text as "table", obj_description(c.oid, 'pg_class') as "tableComment",
    a.attname::text as "column", format_type(a.atttypid, a.atttypmod) as type, col_description(c.oid, a.attnum) as comment
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and n.nspname = any(string_to_array($1, ',')) and has_table_privilege(c.oid, 'select')
  order by n.nspname, c.relname, a.attnum`

type PostgresCatalogue = Pick<Engine, 'comments' | 'describedColumns' | 'requireReader' | 'requireOwner'>

export const catalogueOf = (engine: Pick<Engine, 'rows' | 'schema' | 'location'>): PostgresCatalogue => ({
  async comments() {
    const said = await engine.rows<{ place: string; comment: string }>(comments)
    return new Map(said.map(({ place, comment }) => [place, comment]))
  },
  describedColumns: schemas => engine.rows<DescribedColumn>(describedColumns, [schemas.join(',')]),
  requireReader: () => requireLedger(engine),
  requireOwner: () => requireOwner(engine),
})

/** Names of the foreign keys in a schema; undefined before PostgreSQL 18, which always enforces them. */
export async function foreignKeysIn(
  engine: Engine,
  schema: SchemaName,
): Promise<ReadonlySet<string> | undefined> {
  const rows = await engine.rows<{ version: number; name: string | null }>(
    `select cast(current_setting('server_version_num') as integer) as version, c.conname as name
     from (select 1) as one left join pg_catalog.pg_constraint c
       on c.contype = 'f' and c.connamespace = cast($1 as regnamespace)`,
    [engine.schema(schema)],
  )
  if ((rows[0]?.version ?? 0) < 180_000) return undefined
  return new Set(rows.flatMap(({ name }) => name ?? []))
}

/** Statements that drop foreign keys from other tables of the schema to a table. */
export async function dropsOfForeignKeysTo(
  engine: Engine,
  { schema, name }: { readonly schema: SchemaName; readonly name: string },
): Promise<string[]> {
  const within = quoteName(engine.schema(schema))
  const rows = await engine.rows<{ name: string; table: string }>(
    `select c.conname as name, cast(c.conrelid as regclass)::text as table from pg_catalog.pg_constraint c
     where c.contype = 'f' and c.connamespace = cast(${quoteText(within)} as regnamespace)
       and c.confrelid = to_regclass(${quoteText(`${within}.${quoteName(name)}`)})`,
  )
  return rows.map(({ name, table }) => `alter table ${table} drop constraint ${quoteName(name)}`)
}

/**
 * A publication for all tables of the database refuses updates and deletes on a table with neither a key nor this setting.
 * It costs nothing unless the log is decoded.
 */
export const setFullReplicaIdentity = (
  schemas: readonly string[],
): string => `do $muster$ declare one record; begin
  for one in select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(string_to_array(${quoteText(schemas.join())}, ',')) and c.relkind = 'r' and c.relpersistence = 'p' and c.relreplident in ('d', 'n')
      and not exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary)
  loop execute format('alter table %I.%I replica identity full', one.nspname, one.relname); end loop;
end $muster$`
