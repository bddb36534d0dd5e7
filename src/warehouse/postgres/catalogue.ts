/** PostgreSQL's catalogue: comments, columns, and the rights of this user. */
import type { DescribedColumn, Engine } from '../engine.ts'
import { requireLedger, requireOwner } from './rights.ts'

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
