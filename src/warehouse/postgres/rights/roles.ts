/** Builds and runs the statements that create the roles of a PostgreSQL warehouse and grant their rights. */
import { ConfigError, MusterError } from '../../../lib/errors.ts'
import type { Engine } from '../../engine.ts'
import { type SchemaName, schemaNames } from '../../schema/schemas.ts'
import { quoteName, quoteText } from '../../sql-text.ts'

const roleNames = ['owner', 'loader', 'reader', 'bi', 'privacy'] as const
type RoleName = (typeof roleNames)[number]

export interface RoleRequest {
  /** Prefix of every role name. */
  readonly prefix: string
  readonly schemaPrefix: string
  readonly database: string
}

/** The schemas that each role may read; the loader also writes. */
const readable: Readonly<Record<Exclude<RoleName, 'owner'>, readonly SchemaName[]>> = {
  loader: schemaNames,
  reader: ['star', 'mart'],
  bi: ['mart'],
  privacy: ['star', 'mart', 'pii'],
}

/** Schemas whose tables belong to the owner and whose rows the loader writes. */
const loaded: readonly SchemaName[] = ['star', 'history', 'pii', 'ops']

/** A build creates and drops tables, which only their owner may do, so the loader owns the marts and their schema. */
const ownerOf = (name: SchemaName): RoleName => (name === 'mart' ? 'loader' : 'owner')

/** information_schema shows keys only to roles with more than select; `references` is harmless without a table of one's own. */
const rightsOf = (role: RoleName): string => (role === 'bi' ? 'select, references' : 'select')

/** Roles for queries of users and programs; their time and temporary files are limited. */
const querying: readonly RoleName[] = ['reader', 'bi', 'privacy']
const longestStatement = '15min'
const largestSpill = '10GB'

/** Lower case and short enough for 63 bytes, so that a name reads the same quoted and bare. */
export const isRolePrefix = (text: string): boolean => /^(?!pg_)[a-z][a-z0-9_]{0,49}$/.test(text)

export const rolesOf = (prefix: string): string[] => roleNames.map(name => prefix + name)

/** Wraps work that depends on the server in a do block. */
const block = (condition: string, work: string): string =>
  `do $muster$ ${condition.startsWith('for made') ? 'declare made record; ' : ''}begin ${condition}${condition.startsWith('if') ? ' then' : ''} ${work}; end $muster$`

/** Any user may call these in a new database. Large objects belong to no table or schema, so no other right limits them. */
const storingObjects = [
  'lo_creat(integer)',
  'lo_create(oid)',
  'lo_from_bytea(oid, bytea)',
  'lo_import(text)',
  'lo_import(text, oid)',
  'lo_put(oid, bigint, bytea)',
  'lowrite(integer, bytea)',
  'lo_truncate(integer, integer)',
  'lo_truncate64(integer, bigint)',
].map(name => `pg_catalog.${name}`)

class RoleStatements {
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
    const { prefix } = this.#request
    const owner = this.role('owner')
    return [
      ...roleNames.map(name =>
        block(
          `if not exists (select from pg_catalog.pg_roles where rolname = ${quoteText(prefix + name)})`,
          `create role ${this.role(name)} login; end if`,
        ),
      ),
      // A user who is not a superuser must be a member of a role to give it tables and rights.
      block(
        `if not (select rolsuper from pg_catalog.pg_roles where rolname = current_user) and current_user <> ${quoteText(`${prefix}owner`)}`,
        `execute format('grant %s to %I', ${quoteText(owner)}, current_user); end if`,
      ),
      // The owner is a member of the loader, so that both may rebuild marts.
      `grant ${this.role('loader')} to ${owner}`,
    ]
  }

  /** Revokes the rights that any user has in a new database; only owner and loader need temporary tables. */
  database(): string[] {
    const all = roleNames.map(name => this.role(name)).join(', ')
    return [
      `revoke create, temporary on database ${this.#database} from public`,
      `grant connect on database ${this.#database} to ${all}`,
      `grant create, temporary on database ${this.#database} to ${this.role('owner')}`,
      `grant temporary on database ${this.#database} to ${this.role('loader')}`,
      'revoke create on schema public from public',
      whereAllowed(`revoke execute on function ${storingObjects.join(', ')} from public`),
    ]
  }

  schema(name: SchemaName): string[] {
    const at = quoteName(this.#request.schemaPrefix + name)
    const owner = this.role(ownerOf(name))
    const others = roleNames.filter(role => role !== ownerOf(name))
    const everybody = ['public', ...others.map(role => this.role(role))].join(', ')
    const inSchema = `alter default privileges for role ${owner} in schema ${at}`
    return [
      `create schema if not exists ${at} authorization ${owner}`,
      `alter schema ${at} owner to ${owner}`,
      this.#takeOver(name),
      `revoke all on schema ${at} from ${everybody}`,
      `revoke all on all tables in schema ${at} from ${everybody}`,
      `${inSchema} revoke all on tables from ${everybody}`,
      ...others.flatMap(role => {
        if (role === 'owner' || !readable[role].includes(name)) return []
        const isWritten = role === 'loader' && loaded.includes(name)
        const rights = isWritten ? 'select, insert, update, delete' : rightsOf(role)
        return [
          `grant usage on schema ${at} to ${this.role(role)}`,
          `grant ${rights} on all tables in schema ${at} to ${this.role(role)}`,
          `${inSchema} grant ${rights} on tables to ${this.role(role)}`,
        ]
      }),
    ]
  }

  /** Only the owner of a table can grant rights on it, so tables created by another user get the new owner. */
  #takeOver(name: SchemaName): string {
    const owner = this.#request.prefix + ownerOf(name)
    return block(
      `for made in select n.nspname, c.relname, case c.relkind when 'v' then 'view' else 'table' end as kind
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${quoteText(this.#request.schemaPrefix + name)} and c.relkind in ('r', 'v', 'p')
        and pg_catalog.pg_get_userbyid(c.relowner) <> ${quoteText(owner)} order by 1, 2`,
      `loop execute format('alter %s %I.%I owner to %I', made.kind, made.nspname, made.relname, ${quoteText(owner)}); end loop`,
    )
  }

  /** Unqualified names resolve only in schemas where only the owner can create objects. */
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
    return roleNames.map(name => `${this.#settingOf(name)} search_path = ${paths[name]}`)
  }

  /** A role may raise the first limit for its session; only a superuser may raise the second. */
  limits(): string[] {
    return querying.flatMap(name => [
      `${this.#settingOf(name)} statement_timeout = '${longestStatement}'`,
      whereAllowed(`${this.#settingOf(name)} temp_file_limit = '${largestSpill}'`),
    ])
  }

  #settingOf(name: RoleName): string {
    return `alter role ${this.role(name)} in database ${this.#database} set`
  }
}

/** Runs a statement that needs a superuser or a grant; for other users it has no effect. */
const whereAllowed = (statement: string): string =>
  `do $muster$ begin ${statement}; exception when insufficient_privilege then null; end $muster$`

/**
 * The statements in the order in which they run. They need no input and can be run again at any time: an existing role keeps
 * its password and its other rights.
 */
export function roleStatements(request: RoleRequest): string[] {
  const statements = new RoleStatements(request)
  return [
    ...statements.create(),
    ...statements.database(),
    ...schemaNames.flatMap(name => statements.schema(name)),
    ...statements.searchPaths(),
    ...statements.limits(),
  ]
}

/** Logins that can read the warehouse and create nothing in it, but can store large objects in its database. */
export async function readersThatStore(engine: Engine): Promise<string[]> {
  const may = (right: string): string =>
    `exists (select from pg_catalog.pg_namespace n where n.nspname = any(string_to_array($1, ','))
       and pg_catalog.has_schema_privilege(r.oid, n.oid, '${right}'))`
  const rows = await engine.rows<{ name: string }>(
    `select r.rolname::text as name from pg_catalog.pg_roles r
     where r.rolcanlogin and not r.rolsuper and ${may('usage')} and not ${may('create')}
       and exists (select from unnest(string_to_array($2, ';')) as given(name)
         where pg_catalog.has_function_privilege(r.oid, given.name, 'execute'))
     order by 1`,
    [['star', 'mart'].map(name => engine.schema(name as SchemaName)).join(','), storingObjects.join(';')],
  )
  return rows.map(({ name }) => name)
}

interface ExistingRole {
  readonly name: string
  readonly mighty: boolean
}

async function requireCreator(engine: Engine): Promise<void> {
  const [user] = await engine.rows<{ name: string; may_create: boolean }>(
    `select rolname::text as name, rolsuper or rolcreaterole as may_create from pg_catalog.pg_roles where rolname = current_user`,
  )
  if (user?.may_create) return
  throw new MusterError({
    what: `${user?.name ?? 'this user'} may not create roles`,
    where: engine.location,
    next: 'connect as a user with CREATEROLE, or hand the output of muster roles --dry-run to the administrator',
  })
}

/** Rights cannot be withheld from a superuser role. */
async function refuseMighty(engine: Engine, prefix: string): Promise<void> {
  const existing = await engine.rows<ExistingRole>(
    `select rolname::text as name, rolsuper or rolcreaterole or rolreplication or rolbypassrls as mighty
     from pg_catalog.pg_roles where rolname = any(string_to_array($1, ','))`,
    [rolesOf(prefix).join(',')],
  )
  const mighty = existing.find(role => role.mighty)
  if (!mighty) return
  throw new ConfigError({
    what: `the role ${mighty.name} already exists and has more rights than Muster would give it`,
    next: 'choose other names with --prefix, or take SUPERUSER, CREATEROLE, REPLICATION and BYPASSRLS from it',
  })
}

/** Throws MusterError if this user may not run the statements. */
export async function grantRoles(engine: Engine, request: RoleRequest): Promise<void> {
  await engine.transaction(async engine => {
    await requireCreator(engine)
    await refuseMighty(engine, request.prefix)
    for (const statement of roleStatements(request)) await engine.run(statement)
  })
}
