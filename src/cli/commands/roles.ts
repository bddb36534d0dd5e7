/** `muster roles`: creates or updates the roles that own, load and read a PostgreSQL warehouse. */

import { duckdbFile, postgresTarget } from '../../app/connection/storage.ts'
import { openToWrite } from '../../app/connection/warehouse.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import {
  grantRoles,
  isRolePrefix,
  type RoleRequest,
  roleStatements,
  rolesOf,
} from '../../warehouse/postgres/rights/roles.ts'
import {
  grantRows,
  type RowRequest,
  rowLogin,
  rowScopes,
} from '../../warehouse/postgres/rights/row-policies.ts'
import {
  type CommandModule,
  flagOption,
  listOption,
  type Options,
  oneOf,
  repeated,
  textOf,
  textOption,
} from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'

function requirePrefix(prefix: string): void {
  if (isRolePrefix(prefix)) return
  throw new UsageError({
    what: `--prefix ${JSON.stringify(prefix)} cannot begin the name of a role`,
    next: 'use lower case letters, digits and _, at most 50, beginning with a letter and not with pg_',
  })
}

export const command: CommandModule = {
  options: [
    { flags: '--prefix <text>', summary: 'prefix of every role name', fallback: 'muster_' },
    { flags: '--dry-run', summary: 'print the SQL and change nothing' },
    {
      flags: '--rls <scope>',
      summary: 'afterwards, limit each --login to the mart rows of its companies or projects',
      parse: oneOf(...rowScopes),
    },
    {
      flags: '--login <name=ids>',
      summary: 'a login and all ids it may see, separated by commas',
      parse: repeated(rowLogin),
    },
  ],
  examples: [
    'muster roles --dry-run',
    'muster roles --prefix acme_',
    'muster roles --rls company --login acme_bi=ID --login both_bi=ID,ID',
  ],
  async run(context, _args, options) {
    const connection = context.stored()
    const prefix = textOf(options, 'prefix')
    requirePrefix(prefix)
    const file = duckdbFile(connection)
    if (file !== undefined) {
      throw new UsageError({
        what: 'a DuckDB warehouse is a file and has no roles',
        where: file,
        next: 'give people the copy without personal data that muster publish writes',
      })
    }
    const request = { prefix, ...roleTargetOf(connection) }
    const isDry = flagOption(options, 'dryRun')
    const rows = rowsOf(options, prefix)
    const secured = isDry ? [] : await grant(connection, request, rows)
    const statements = roleStatements(request)
    if (context.json) printJson(context, { roles: rolesOf(prefix), isDry, statements, secured })
    else if (isDry) context.stdout.write(`begin;\n${statements.join(';\n')};\ncommit;\n`)
    else {
      const names = rolesOf(prefix).join(', ')
      printLine(context, `${names} are up to date; set a password for the roles that log in`)
      for (const { name, ids } of rows?.logins ?? [])
        printLine(
          context,
          `${name} sees ${counted(ids.length, `${rows?.scope}`, rows?.scope === 'company' ? 'companies' : 'projects')} in ${counted(secured.length, 'mart')}`,
        )
    }
    return 0
  },
}

/** Derived from the address alone, so that --dry-run can print the SQL before any role can log in. */
function roleTargetOf(connection: StoredConnection): Omit<RoleRequest, 'prefix'> {
  const place = postgresTarget(connection)
  const { pathname, username } = new URL(place?.address.url ?? 'postgres://')
  // Without a database in the address, PostgreSQL uses the one named after the user.
  const database = decodeURIComponent(pathname.slice(1) || username)
  return { database, schemaPrefix: place?.options.schemaPrefix ?? '' }
}

/** Throws UsageError for --login without --rls, or --rls without --login. */
function rowsOf(options: Options, prefix: string): RowRequest | undefined {
  const scope = rowScopes.find(one => one === textOption(options, 'rls'))
  const logins = listOption<RowRequest['logins'][number]>(options, 'login')
  if (scope === undefined && logins.length === 0) return undefined
  if (scope !== undefined && logins.length > 0 && !flagOption(options, 'dryRun'))
    return { prefix, scope, logins }
  throw new UsageError({
    what: '--rls and --login go together, and not with --dry-run: the marts are looked up in the warehouse',
    next: 'write muster roles --rls company --login NAME=ID,ID',
  })
}

/** Returns the names of the marts with row policies. */
async function grant(
  connection: StoredConnection,
  request: RoleRequest,
  rows: RowRequest | undefined,
): Promise<readonly string[]> {
  const engine = await openToWrite(connection)
  try {
    await grantRoles(engine, request)
    return rows === undefined ? [] : (await grantRows(engine, rows)).tables
  } finally {
    await engine.close()
  }
}
