/** Creates or updates the roles of a warehouse in one transaction. */
import { ConfigError, MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'
import { quoteName } from '../sql-text.ts'
import { roleStatements, rolesOf, strayTables } from './roles.ts'

interface Server {
  readonly user: string
  readonly database: string
  readonly superuser: boolean
  readonly may_create: boolean
}

interface Existing {
  readonly name: string
  readonly mighty: boolean
}

async function askServer(engine: Engine): Promise<Server> {
  const [server] = await engine.rows<Server>(
    `select current_user::text as user, current_database()::text as database, rolsuper as superuser,
       rolsuper or rolcreaterole as may_create from pg_catalog.pg_roles where rolname = current_user`,
  )
  if (server?.may_create) return server
  throw new MusterError({
    what: `${server?.user ?? 'this user'} may not create roles`,
    where: engine.location,
    next: 'connect as a user with CREATEROLE, or hand the output of muster roles --dry-run to the administrator',
  })
}

/** Rights cannot be withheld from a superuser role. */
function refuseMighty(roles: readonly Existing[]): void {
  const mighty = roles.find(role => role.mighty)
  if (!mighty) return
  throw new ConfigError({
    what: `the role ${mighty.name} is there already and may do more than Muster would let it`,
    next: 'give other names with --prefix, or take SUPERUSER, CREATEROLE, REPLICATION and BYPASSRLS from it',
  })
}

async function plannedStatements(engine: Engine, prefix: string, server: Server): Promise<string[]> {
  const existing = await engine.rows<Existing>(
    `select rolname::text as name, rolsuper or rolcreaterole or rolreplication or rolbypassrls as mighty
     from pg_catalog.pg_roles where rolname = any(string_to_array($1, ','))`,
    [rolesOf(prefix).join(',')],
  )
  refuseMighty(existing)
  return roleStatements({
    prefix,
    schemaPrefix: engine.schema('star').slice(0, -'star'.length),
    database: server.database,
    user: server.user,
    isSuperuser: server.superuser,
    existing: new Set(existing.map(({ name }) => name)),
  })
}

/** Runs before the grants: only the owner of a table can grant rights on it. */
async function takeovers(engine: Engine, prefix: string): Promise<string[]> {
  const owner = `${prefix}owner`
  const stray = await engine.rows<{ schema: string; name: string; kind: string }>(strayTables, [
    schemaNames.map(name => engine.schema(name)).join(','),
    owner,
  ])
  return stray.map(
    ({ schema, name, kind }) =>
      `alter ${kind} ${quoteName(schema)}.${quoteName(name)} owner to ${quoteName(owner)}`,
  )
}

function inOrder(statements: readonly string[], moved: readonly string[]): string[] {
  const first = statements.findIndex(statement => statement.startsWith('revoke all on schema'))
  return [...statements.slice(0, first), ...moved, ...statements.slice(first)]
}

/** The statements in the order in which they would run. Throws MusterError when this user may not run them. */
export async function plannedRoles(engine: Engine, prefix: string): Promise<string[]> {
  const statements = await plannedStatements(engine, prefix, await askServer(engine))
  return inOrder(statements, await takeovers(engine, prefix))
}

export async function grantRoles(engine: Engine, prefix: string): Promise<string[]> {
  return engine.transaction(async engine => {
    const statements = await plannedRoles(engine, prefix)
    for (const statement of statements) await engine.run(statement)
    return statements
  })
}
