/** PostgreSQL's catalogue: comments, columns, and whether this user may read the ledger or change tables. */
import { MusterError } from '../../lib/errors.ts'
import type { DescribedColumn, Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'

type Reader = Pick<Engine, 'rows' | 'schema' | 'location'>

/**
 * Throws MusterError when there is a ledger that this user may not read: ops is not for readers, because quarantine and
 * inbox hold whole records.
 */
async function requireLedger(engine: Reader): Promise<void> {
  const [ledger] = await engine.rows<{ user: string; may_use: boolean }>(
    `select current_user::text as user, pg_catalog.has_schema_privilege(oid, 'usage') as may_use
     from pg_catalog.pg_namespace where nspname = $1`,
    [engine.schema('ops')],
  )
  if (!ledger || ledger.may_use) return
  throw new MusterError({
    what: `${ledger.user} may not read ${engine.schema('ops')}, where runs and the state of every resource are kept`,
    where: engine.location,
    next: `connect as the loader or the owner; how fresh and complete the data is stands in ${engine.schema('mart')}.data_health as well`,
  })
}

/** Throws MusterError before anything is tried, and says which user to connect as. */
async function requireOwner(engine: Reader): Promise<void> {
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
    what: 'the tables of the warehouse have to be made or changed for this version, which this user may not do',
    where: engine.location,
    next: 'run muster sync once as the owner role, then go on with this one',
  })
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

type Catalogue = Pick<Engine, 'comments' | 'describedColumns' | 'requireReader' | 'requireOwner'>

export const catalogueOf = (engine: Pick<Engine, 'rows' | 'schema' | 'location'>): Catalogue => ({
  async comments() {
    const said = await engine.rows<{ place: string; comment: string }>(comments)
    return new Map(said.map(({ place, comment }) => [place, comment]))
  },
  describedColumns: schemas => engine.rows<DescribedColumn>(describedColumns, [schemas.join(',')]),
  requireReader: () => requireLedger(engine),
  requireOwner: () => requireOwner(engine),
})
