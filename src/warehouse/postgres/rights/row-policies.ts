/** Manages row-level policies on marts, for logins that see only the rows of some companies or projects. */
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

/** PostgreSQL truncates a longer name, which may then equal another login's. */
const longestName = 63
/** Words that mean other roles, and names reserved by PostgreSQL. */
const isReserved = (name: string): boolean => /^(pg_.*|public|none)$/i.test(name)

/** Parses `acme_bi=c1,c2`; a login without ids sees no rows. Throws UsageError for any other text. */
export function rowLogin(text: string): RowLogin {
  const [, name = '', list = ''] = /^([^=\p{Cc}]+)=(.*)$/u.exec(text) ?? []
  const ids = [...new Set(list.split(',').filter(id => id !== ''))]
  const isName = name.trim() === name && name !== '' && Buffer.byteLength(name) <= longestName
  if (isName && !isReserved(name)) return { name, ids }
  throw new UsageError({
    what: `--login ${JSON.stringify(text)} is not a login with its ids`,
    next: 'write a login of at most 63 bytes and its ids, as in --login acme_bi=ID,ID',
  })
}

/** Merges the ids of a login that is given twice. */
function distinct(logins: readonly RowLogin[]): readonly RowLogin[] {
  const ids = new Map<string, readonly string[]>()
  for (const one of logins) ids.set(one.name, [...new Set([...(ids.get(one.name) ?? []), ...one.ids])])
  return [...ids].map(([name, all]) => ({ name, ids: all }))
}

/** dim_date belongs to no company; all other marts without the column are left out. */
const open = 'dim_date'
const ofLogins = 'muster_rows_of_'
/** Policies of logins end with a number instead. */
const ofRoles = quoteName(`${ofLogins}~roles`)

/** Leaves out views: a view reads with its owner's rights, and would show all rows. */
async function tablesOf(engine: Engine, scope: RowScope): Promise<{ name: string; is_scoped: boolean }[]> {
  return engine.rows(
    `select t.tablename::text as name, exists (select from information_schema.columns c where c.table_schema = t.schemaname
       and c.table_name = t.tablename and c.column_name = $2) as is_scoped
     from pg_catalog.pg_tables t where t.schemaname = $1 order by 1`,
    [engine.schema('mart'), `${scope}_id`],
  )
}

/** Other memberships would add rights, and a superuser bypasses every policy. */
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

const quotedTable = (schema: string, table: string): string => `${quoteName(schema)}.${quoteName(table)}`

/** Lets the roles of the warehouse see all rows of a table, even if no login sees it any longer. */
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

interface PreviousPolicy {
  readonly name: string
  readonly table: string
}

const previousPolicies = (engine: Engine): Promise<PreviousPolicy[]> =>
  engine.rows<PreviousPolicy>(
    `select policyname::text as name, tablename::text as table from pg_catalog.pg_policies
     where schemaname = $1 and starts_with(policyname::text, $2)`,
    [engine.schema('mart'), ofLogins],
  )

/**
 * Replaces the logins: one that is not in the list no longer sees any rows. Logins see a mart that is built for the first
 * time afterwards only when this runs again.
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
    const previous = await previousPolicies(engine)
    const secured = new Set([...scoped, ...previous.map(({ table }) => table)])
    const days = tables.some(({ name }) => name === open) ? request.logins : []
    const statements = [
      ...previous.map(({ name, table }) => `drop policy ${quoteName(name)} on ${quotedTable(schema, table)}`),
      ...request.logins.flatMap(login => loginStatements(schema, at?.database ?? '', login)),
      ...[...secured].flatMap(name => openToRoles(quotedTable(schema, name), request.prefix)),
      ...scoped.flatMap(name => loginsOn(quotedTable(schema, name), request)),
      ...days.map(({ name }) => `grant select on ${quotedTable(schema, open)} to ${quoteName(name)}`),
    ]
    for (const statement of statements) await engine.run(statement)
    return { tables: scoped }
  })
}

/** Statements that copy the policies of a table to the one that replaces it. */
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
    checked: string | null
    kind: string
  }>(
    `select permissive as kind, policyname::text as name, cmd, (select string_agg(case role when 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as u(role)) as roles,
       qual as used, with_check as checked from pg_catalog.pg_policies where schemaname = $1 and tablename = $2`,
    [schema, table],
  )
  return [
    `alter table ${at} enable row level security`,
    ...rows.map(
      ({ name, kind, cmd, roles, used, checked }) =>
        `create policy ${quoteName(name)} on ${at} as ${kind} for ${cmd} to ${roles}${used === null ? '' : ` using (${used})`}${checked === null ? '' : ` with check (${checked})`}`,
    ),
  ]
}
