/** Keeps the rights on a table or view that is replaced, and finds objects that prevent the replacement. */
import { MusterError } from '../../../lib/errors.ts'
import type { Engine } from '../../engine.ts'
import type { SchemaName } from '../../schema/schemas.ts'
import { quoteName } from '../../sql-text.ts'

export interface ReplacedTable {
  readonly schema: SchemaName
  readonly name: string
}

const qualifiedTable = (engine: Pick<Engine, 'schema'>, { schema, name }: ReplacedTable): string =>
  `${quoteName(engine.schema(schema))}.${quoteName(name)}`

/** Rights on the table and on its columns; the schema's default rights are not among them. */
const grants = `
  select a.privilege_type as privilege, a.is_grantable as passed, null::text as column, a.grantee
  from pg_catalog.pg_class c cross join lateral aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
  where c.oid = to_regclass($1) and a.grantee <> c.relowner
  union all
  select a.privilege_type, a.is_grantable, t.attname::text, a.grantee
  from pg_catalog.pg_class c join pg_catalog.pg_attribute t on t.attrelid = c.oid and not t.attisdropped cross join lateral aclexplode(t.attacl) a
  where c.oid = to_regclass($1) and a.grantee <> c.relowner`

interface TableGrant {
  readonly privilege: string
  readonly passed: boolean
  readonly column: string | null
  readonly grantee: string
}

const grantsOn = (engine: Engine, place: string): Promise<TableGrant[]> =>
  engine.rows<TableGrant>(
    `select privilege, passed, "column", case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end as grantee
     from (${grants}) as found`,
    [place],
  )

/** Gives the new table or view the rights of the replaced one, instead of the schema's default rights. */
export type Regrant = () => Promise<void>

/** Call before the table is dropped. Rights on columns that the new table does not have are lost. */
export async function keepRights(engine: Engine, replaced: ReplacedTable): Promise<Regrant> {
  const place = qualifiedTable(engine, replaced)
  const oldGrants = await grantsOn(engine, place)
  const isThere = (await engine.rows('select 1 where to_regclass($1) is not null', [place])).length > 0
  return async () => {
    if (!isThere) return
    const columns = await engine.rows<{ name: string }>(
      'select attname::text as name from pg_catalog.pg_attribute where attrelid = to_regclass($1) and not attisdropped',
      [place],
    )
    const given = [...new Set((await grantsOn(engine, place)).map(({ grantee }) => grantee))]
    if (given.length > 0) await engine.run(`revoke all on ${place} from ${given.join(', ')}`)
    for (const { privilege, passed, column, grantee } of oldGrants)
      if (column === null || columns.some(({ name }) => name === column))
        await engine.run(
          `grant ${privilege}${column === null ? '' : ` (${quoteName(column)})`} on ${place} to ${grantee}${passed ? ' with grant option' : ''}`,
        )
  }
}

interface DependentObject {
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly removal: string
}

/** Views, functions, policies and constraints that depend on the table, newest first. */
const dependents = `
  with recursive reached(class, id) as (
    select 'pg_catalog.pg_class'::regclass::oid, to_regclass($1)::oid where to_regclass($1) is not null
    union
    select case when r.oid is null then d.classid else 'pg_catalog.pg_class'::regclass::oid end, coalesce(r.ev_class, d.objid)
    from reached join pg_catalog.pg_depend d on d.refclassid = class and d.refobjid = id and d.deptype in ('n', 'a', 'i')
    left join pg_catalog.pg_rewrite r on d.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = d.objid
  ), found as (
    select class, id, pg_catalog.pg_get_userbyid(coalesce(c.relowner, p.proowner, t.relowner, s.relowner))::text as owner,
      coalesce(k.conrelid, y.polrelid) as "on", coalesce(k.conname, y.polname)::text as own, nc.nspname = $2 and c.relname = any(string_to_array($3, ',')) as is_own
    from (select * from reached where id <> to_regclass($1)) as reached
    left join pg_catalog.pg_class c on class = 'pg_catalog.pg_class'::regclass and c.oid = id and c.relkind in ('v', 'm')
    left join pg_catalog.pg_namespace nc on nc.oid = c.relnamespace
    left join pg_catalog.pg_proc p on class = 'pg_catalog.pg_proc'::regclass and p.oid = id
    left join pg_catalog.pg_constraint k on class = 'pg_catalog.pg_constraint'::regclass and k.oid = id and k.contype = 'f' and k.conrelid <> to_regclass($1)
    left join pg_catalog.pg_class t on t.oid = k.conrelid and t.relnamespace <> (select relnamespace from pg_catalog.pg_class where oid = to_regclass($1))
    left join pg_catalog.pg_policy y on class = 'pg_catalog.pg_policy'::regclass and y.oid = id and y.polrelid <> to_regclass($1)
    left join pg_catalog.pg_class s on s.oid = y.polrelid
  )
  select type as kind, coalesce('"' || own || '" of ' || "on"::regclass::text, identity) as name, owner,
    case when type like '%constraint' then format('alter table %s drop constraint %I', "on"::regclass, own)
      when type = 'policy' then format('drop policy %I on %s', own, "on"::regclass) else 'drop ' || type || ' ' || identity end as removal
  from found cross join lateral pg_catalog.pg_identify_object(class, id, 0)
  where owner is not null and is_own is not true order by id desc`

/** More would not fit on a line. */
const maxNamed = 5

/** `own` are Muster's views over it. Throws MusterError that names the dependent objects and how to remove them. */
export async function requireNothingInTheWay(
  engine: Engine,
  replaced: ReplacedTable,
  own: readonly string[] = [],
): Promise<void> {
  const found = await engine.rows<DependentObject>(dependents, [
    qualifiedTable(engine, replaced),
    engine.schema(replaced.schema),
    own.join(),
  ])
  if (found.length === 0) return
  const some = found.slice(0, maxNamed)
  const words = some.map(({ kind, name, owner }) => `${kind} ${name} (owner ${owner})`).join(', ')
  const rest = found.length > some.length ? ` and ${found.length - some.length} more` : ''
  throw new MusterError({
    what: `${replaced.schema}.${replaced.name} must be created again, but other objects depend on it: ${words}${rest}`,
    where: engine.location,
    next: `keep their definitions, run ${some.map(({ removal }) => removal).join('; ')}; then the same command again, and create them again`,
  })
}
