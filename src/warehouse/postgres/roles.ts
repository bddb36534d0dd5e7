/** The roles of a PostgreSQL warehouse: the rights of each on every schema, as statements, and how they are granted. */
import { ConfigError, MusterError } from '../../lib/errors.ts'
import type { Engine } from '../engine.ts'
import { type SchemaName, schemaNames } from '../schema/schemas.ts'
import { quoteName } from '../sql-text.ts'

const roleNames = ['owner', 'loader', 'reader', 'bi', 'privacy'] as const
type RoleName = (typeof roleNames)[number]

export interface RoleRequest {
  /** Prefix of every role name. */
  readonly prefix: string
  readonly schemaPrefix: string
  readonly database: string
  /** The user who runs the statements. */
  readonly user: string
  readonly isSuperuser: boolean
  /** Roles of the server; they are left as they are. */
  readonly existing: ReadonlySet<string>
}

/** The schemas that each role may read; the loader writes as well. */
const readable: Readonly<Record<Exclude<RoleName, 'owner'>, readonly SchemaName[]>> = {
  loader: schemaNames,
  reader: ['star', 'mart'],
  bi: ['mart'],
  privacy: ['star', 'mart', 'pii'],
}

/** The loader writes these; marts are built by the owner. */
const loaded: readonly SchemaName[] = ['star', 'history', 'pii', 'ops']

/** Lower case and short enough for 63 bytes, so that a name reads the same quoted and bare. */
export const isRolePrefix = (text: string): boolean => /^(?!pg_)[a-z][a-z0-9_]{0,49}$/.test(text)

export const rolesOf = (prefix: string): string[] => roleNames.map(name => prefix + name)

class Statements {
  readonly #request: RoleRequest
  readonly #database: string

  constructor(request: RoleRequest) {
    this.#request = request
    this.#database = quoteName(request.database)
  }

  role(name: RoleName): string {
    return quoteName(this.#request.prefix + name)
  }

  /** Without a password: the administrator gives users a password or a certificate. */
  create(): string[] {
    const { prefix, existing, user, isSuperuser } = this.#request
    const fresh = roleNames.filter(name => !existing.has(prefix + name))
    const isOther = !isSuperuser && user !== `${prefix}owner`
    return [
      ...fresh.map(name => `create role ${this.role(name)} login`),
      ...(isOther ? [`grant ${this.role('owner')} to ${quoteName(user)}`] : []),
    ]
  }

  /** Revokes the rights that everybody has in a new database; only owner and loader need temporary tables. */
  database(): string[] {
    const all = roleNames.map(name => this.role(name)).join(', ')
    return [
      `revoke create, temporary on database ${this.#database} from public`,
      `grant connect on database ${this.#database} to ${all}`,
      `grant create, temporary on database ${this.#database} to ${this.role('owner')}`,
      `grant temporary on database ${this.#database} to ${this.role('loader')}`,
      'revoke create on schema public from public',
    ]
  }

  schema(name: SchemaName): string[] {
    const at = quoteName(this.#request.schemaPrefix + name)
    const owner = this.role('owner')
    const others = roleNames.filter(role => role !== 'owner').map(role => this.role(role))
    const everybody = ['public', ...others].join(', ')
    const inSchema = `alter default privileges for role ${owner} in schema ${at}`
    return [
      `create schema if not exists ${at} authorization ${owner}`,
      `alter schema ${at} owner to ${owner}`,
      `revoke all on schema ${at} from ${everybody}`,
      `revoke all on all tables in schema ${at} from ${everybody}`,
      `${inSchema} revoke all on tables from ${everybody}`,
      ...roleNames.flatMap(role => {
        if (role === 'owner' || !readable[role].includes(name)) return []
        const isWritten = role === 'loader' && loaded.includes(name)
        const rights = isWritten ? 'select, insert, update, delete' : 'select'
        return [
          `grant usage on schema ${at} to ${this.role(role)}`,
          `grant ${rights} on all tables in schema ${at} to ${this.role(role)}`,
          `${inSchema} grant ${rights} on tables to ${this.role(role)}`,
        ]
      }),
    ]
  }

  /** Unqualified names resolve only in schemas where nobody but the owner can create objects. */
  searchPaths(): string[] {
    const path = (names: readonly SchemaName[]): string =>
      names.map(name => quoteName(this.#request.schemaPrefix + name)).join(', ') || "''"
    const paths: Readonly<Record<RoleName, string>> = {
      owner: path([]),
      loader: path([]),
      reader: path(readable.reader),
      bi: path(readable.bi),
      privacy: path(readable.privacy),
    }
    return roleNames.map(
      name => `alter role ${this.role(name)} in database ${this.#database} set search_path = ${paths[name]}`,
    )
  }
}

/** Can be run again at any time: an existing role keeps its password and its rights elsewhere. */
function roleStatements(request: RoleRequest): string[] {
  const statements = new Statements(request)
  return [
    ...statements.create(),
    ...statements.database(),
    ...schemaNames.flatMap(name => statements.schema(name)),
    ...statements.searchPaths(),
  ]
}

/** Tables and views of other owners: the owner role has to take them over before it can grant rights on them. */
const strayTables = `select n.nspname as schema, c.relname as name, case c.relkind when 'v' then 'view' else 'table' end as kind
   from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any(string_to_array($1, ',')) and c.relkind in ('r', 'v', 'p')
     and pg_catalog.pg_get_userbyid(c.relowner) <> $2 order by 1, 2`

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
