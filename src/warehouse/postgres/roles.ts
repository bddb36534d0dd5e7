/** The roles of a PostgreSQL warehouse as statements: the schemas that each owns, loads and reads, also for tables made later. */
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
export function roleStatements(request: RoleRequest): string[] {
  const statements = new Statements(request)
  return [
    ...statements.create(),
    ...statements.database(),
    ...schemaNames.flatMap(name => statements.schema(name)),
    ...statements.searchPaths(),
  ]
}

/** Tables and views of other owners: the owner role has to take them over before it can grant rights on them. */
export const strayTables = `select n.nspname as schema, c.relname as name, case c.relkind when 'v' then 'view' else 'table' end as kind
   from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any(string_to_array($1, ',')) and c.relkind in ('r', 'v', 'p')
     and pg_catalog.pg_get_userbyid(c.relowner) <> $2 order by 1, 2`
