/** Row-level policies on marts: logins that see the rows of some companies or projects, and nothing else of the warehouse. */
import { ConfigError, UsageError } from '../../../lib/errors.ts'
import type { Engine } from '../../engine.ts'
import { quoteName, quoteText } from '../../sql-text.ts'
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

/** PostgreSQL cuts a longer name, which may then be that of another login. */
const longestName = 63
/** Words that stand for other roles, and names that PostgreSQL keeps for its own. */
const isReserved = (name: string): boolean => /^(pg_.*|public|none)$/i.test(name)

/** `acme_bi=c1,c2`; one without ids sees no row. Throws UsageError for a text that is none. */
export function rowLogin(text: string): RowLogin {
  const [, name = '', list = ''] = /^([^=\p{Cc}]+)=(.*)$/u.exec(text) ?? []
  const ids = [...new Set(list.split(',').filter(id => id !== ''))]
  const isName = name.trim() === name && name !== '' && Buffer.byteLength(name) <= longestName
  if (isName && !isReserved(name)) return { name, ids }
  throw new UsageError({
    what: `--login ${JSON.stringify(text)} names no login and its ids`,
    next: 'write a login of at most 63 bytes and its ids, as in --login acme_bi=ID,ID',
  })
}

/** A login that is named twice sees the rows of both. */
function distinct(logins: readonly RowLogin[]): readonly RowLogin[] {
  const ids = new Map<string, readonly string[]>()
  for (const one of logins) ids.set(one.name, [...new Set([...(ids.get(one.name) ?? []), ...one.ids])])
  return [...ids].map(([name, all]) => ({ name, ids: all }))
}

/** Days are of no company; every other mart without the column is left out. */
const open = 'dim_date'
const ofLogins = 'muster_rows_of_'
/** The others end with a number. */
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
     where r.rolname in (select jsonb_array_elements_text(cast($1 as jsonb))) and (r.rolsuper or r.rolbypassrls
       or exists (select from pg_catalog.pg_auth_members m where m.member = r.oid)
       or r.rolname = any(string_to_array($2, ',')))`,
    [JSON.stringify(logins.map(({ name }) => name)), rolesOf(prefix).join(',')],
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

const placeOf = (schema: string, table: string): string => `${quoteName(schema)}.${quoteName(table)}`

/** The roles of the warehouse see all rows of a table, also of one that no login sees any more. */
function openToRoles(at: string, prefix: string): string[] {
  const roles = rolesOf(prefix).map(quoteName).join(', ')
  return [
    `alter table ${at} enable row level security`,
    `create policy ${ofRoles} on ${at} to ${roles} using (true) with check (true)`,
  ]
}

function loginsOn(at: string, { scope, logins }: RowRequest): string[] {
  const seen = ({ ids }: RowLogin): string =>
    ids.length === 0 ? 'false' : `${quoteName(`${scope}_id`)} in (${ids.map(quoteText).join(', ')})`
  return logins.flatMap((login, index) => [
    `create policy ${quoteName(`${ofLogins}${index + 1}`)} on ${at} for select to ${quoteName(login.name)} using (${seen(login)})`,
    `grant select on ${at} to ${quoteName(login.name)}`,
  ])
}

interface FormerPolicy {
  readonly name: string
  readonly table: string
}

const formerPolicies = (engine: Engine): Promise<FormerPolicy[]> =>
  engine.rows<FormerPolicy>(
    `select policyname::text as name, tablename::text as table from pg_catalog.pg_policies
     where schemaname = $1 and starts_with(policyname::text, $2)`,
    [engine.schema('mart'), ofLogins],
  )

/**
 * The list of logins is whole: one that it leaves out sees no row any more. A mart that is built for the first time
 * afterwards is seen by none of them until this runs again.
 */
export async function grantRows(
  engine: Engine,
  { logins, ...asked }: RowRequest,
): Promise<{ readonly tables: readonly string[] }> {
  const request = { ...asked, logins: distinct(logins) }
  return engine.transaction(async engine => {
    await refuseMembers(engine, request)
    const schema = engine.schema('mart')
    const [at] = await engine.rows<{ database: string }>('select current_database()::text as database')
    const tables = await tablesOf(engine, request.scope)
    const scoped = tables.filter(({ is_scoped: isScoped }) => isScoped).map(({ name }) => name)
    const former = await formerPolicies(engine)
    const secured = new Set([...scoped, ...former.map(({ table }) => table)])
    const days = tables.some(({ name }) => name === open) ? request.logins : []
    const statements = [
      ...former.map(({ name, table }) => `drop policy ${quoteName(name)} on ${placeOf(schema, table)}`),
      ...request.logins.flatMap(login => loginStatements(schema, at?.database ?? '', login)),
      ...[...secured].flatMap(name => openToRoles(placeOf(schema, name), request.prefix)),
      ...scoped.flatMap(name => loginsOn(placeOf(schema, name), request)),
      ...days.map(({ name }) => `grant select on ${placeOf(schema, open)} to ${quoteName(name)}`),
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
    kind: string
  }>(
    `select permissive as kind, policyname::text as name, cmd, (select string_agg(case role when 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as u(role)) as roles,
       qual as used, with_check as held from pg_catalog.pg_policies where schemaname = $1 and tablename = $2`,
    [schema, table],
  )
  return [
    `alter table ${at} enable row level security`,
    ...rows.map(
      ({ name, kind, cmd, roles, used, held }) =>
        `create policy ${quoteName(name)} on ${at} as ${kind} for ${cmd} to ${roles}${used === null ? '' : ` using (${used})`}${held === null ? '' : ` with check (${held})`}`,
    ),
  ]
}
