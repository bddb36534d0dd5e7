/** Row-level policies on marts: logins that see the rows of some companies or projects, and nothing else of the warehouse. */
import { ConfigError, UsageError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { rolesOf } from './roles.ts'

export const rowScopes = ['company', 'project'] as const
export type RowScope = (typeof rowScopes)[number]

/** A login and the ids of the companies or projects whose rows it sees. */
export interface RowLogin {
  readonly name: string
  readonly ids: readonly string[]
}

export interface RowRequest {
  readonly prefix: string
  readonly scope: RowScope
  readonly logins: readonly RowLogin[]
}

/** `acme_bi=c1,c2`. Throws UsageError for a text that is none. */
export function rowLogin(text: string): RowLogin {
  const [, name, list] = /^([a-z][a-z0-9_]{0,62})=(.+)$/.exec(text) ?? []
  const ids = (list ?? '').split(',').filter(id => id !== '')
  if (name && !name.startsWith('pg_') && ids.length > 0) return { name, ids }
  throw new UsageError({
    what: `--login ${JSON.stringify(text)} names no login and its ids`,
    next: 'write a login in lower case and its ids, as in --login acme_bi=ID,ID',
  })
}

/** Days are of no company; every other mart without the column is left out. */
const open = 'dim_date'
const ofLogins = 'muster_rows_of_'
/** No login can have such a name. */
const ofRoles = quoteName(`${ofLogins}~roles`)

/** Tables, not views: a view reads with the rights of its owner, and would show all rows. */
async function tablesOf(engine: Engine, scope: RowScope): Promise<{ name: string; is_scoped: boolean }[]> {
  return engine.rows(
    `select t.tablename::text as name, exists (select from information_schema.columns c where c.table_schema = t.schemaname
       and c.table_name = t.tablename and c.column_name = $2) as is_scoped
     from pg_catalog.pg_tables t where t.schemaname = $1 order by 1`,
    [engine.schema('mart'), `${scope}_id`],
  )
}

/** Rights of other memberships would add to these; a superuser passes every policy. */
async function refuseMembers(engine: Engine, { prefix, logins }: RowRequest): Promise<void> {
  const [wrong] = await engine.rows<{ name: string }>(
    `select r.rolname::text as name from pg_catalog.pg_roles r
     where r.rolname = any(string_to_array($1, ',')) and (r.rolsuper or r.rolbypassrls
       or exists (select from pg_catalog.pg_auth_members m where m.member = r.oid)
       or r.rolname = any(string_to_array($2, ',')))`,
    [logins.map(({ name }) => name).join(','), rolesOf(prefix).join(',')],
  )
  if (!wrong) return
  throw new ConfigError({
    what: `the login ${wrong.name} has the rights of other roles, which would show it more rows`,
    next: 'name a login that is a member of no role and no superuser',
  })
}

const loginStatements = (schema: string, database: string, { name }: RowLogin): string[] => {
  const login = quoteName(name)
  return [
    `do $muster$ begin if not exists (select from pg_catalog.pg_roles where rolname = ${quoteText(name)}) then create role ${login} login; end if; end $muster$`,
    `revoke all on all tables in schema ${quoteName(schema)} from ${login}`,
    `grant connect on database ${quoteName(database)} to ${login}`,
    `grant usage on schema ${quoteName(schema)} to ${login}`,
    `alter role ${login} in database ${quoteName(database)} set search_path = ${quoteName(schema)}`,
  ]
}

function tableStatements(schema: string, table: string, { prefix, scope, logins }: RowRequest): string[] {
  const at = `${quoteName(schema)}.${quoteName(table)}`
  const roles = rolesOf(prefix).map(quoteName).join(', ')
  const policyOf = ({ name, ids }: RowLogin): string =>
    `create policy ${quoteName(`${ofLogins}${name}`.slice(0, 63))} on ${at} for select to ${quoteName(name)}
     using (${quoteName(`${scope}_id`)} in (${ids.map(quoteText).join(', ')}))`
  return [
    `alter table ${at} enable row level security`,
    `create policy ${ofRoles} on ${at} to ${roles} using (true) with check (true)`,
    ...logins.flatMap(login => [policyOf(login), `grant select on ${at} to ${quoteName(login.name)}`]),
  ]
}

async function formerPolicies(engine: Engine): Promise<string[]> {
  const rows = await engine.rows<{ name: string; table: string }>(
    `select policyname::text as name, tablename::text as table from pg_catalog.pg_policies
     where schemaname = $1 and starts_with(policyname::text, $2)`,
    [engine.schema('mart'), ofLogins],
  )
  const schema = quoteName(engine.schema('mart'))
  return rows.map(({ name, table }) => `drop policy ${quoteName(name)} on ${schema}.${quoteName(table)}`)
}

/**
 * The list of logins is whole: one that it leaves out sees no row any more. A mart that is built for the first time
 * afterwards is seen by none of them until this runs again.
 */
export async function grantRows(
  engine: Engine,
  request: RowRequest,
): Promise<{ readonly tables: readonly string[] }> {
  return engine.transaction(async engine => {
    await refuseMembers(engine, request)
    const schema = engine.schema('mart')
    const [at] = await engine.rows<{ database: string }>('select current_database()::text as database')
    const tables = await tablesOf(engine, request.scope)
    const scoped = tables.filter(({ is_scoped: isScoped }) => isScoped).map(({ name }) => name)
    const days = tables.some(({ name }) => name === open)
    const statements = [
      ...(await formerPolicies(engine)),
      ...request.logins.flatMap(login => loginStatements(schema, at?.database ?? '', login)),
      ...scoped.flatMap(name => tableStatements(schema, name, request)),
      ...(days
        ? request.logins.map(
            ({ name }) => `grant select on ${quoteName(schema)}.${open} to ${quoteName(name)}`,
          )
        : []),
    ]
    for (const statement of statements) await engine.run(statement)
    return { tables: scoped }
  })
}

/** Statements that put the policies of a table on the one that takes its place. */
export async function policiesOn(engine: Engine, schema: string, table: string): Promise<string[]> {
  const at = `${quoteName(schema)}.${quoteName(table)}`
  const [secured] = await engine.rows<{ is_on: boolean }>(
    'select relrowsecurity as is_on from pg_catalog.pg_class where oid = to_regclass($1)',
    [at],
  )
  if (!secured?.is_on) return []
  const rows = await engine.rows<{
    name: string
    cmd: string
    roles: string
    used: string | null
    held: string | null
  }>(
    `select policyname::text as name, cmd, (select string_agg(case role when 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as u(role)) as roles,
       qual as used, with_check as held from pg_catalog.pg_policies where schemaname = $1 and tablename = $2`,
    [schema, table],
  )
  return [
    `alter table ${at} enable row level security`,
    ...rows.map(
      ({ name, cmd, roles, used, held }) =>
        `create policy ${quoteName(name)} on ${at} for ${cmd} to ${roles}${used === null ? '' : ` using (${used})`}${held === null ? '' : ` with check (${held})`}`,
    ),
  ]
}
