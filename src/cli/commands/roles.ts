/** `muster roles`: the roles that own, load and read a PostgreSQL warehouse. */

import { duckdbFile, openToWrite, postgresPlace } from '../../app/connection/warehouse.ts'
import type { Connection } from '../../config/connection.ts'
import { UsageError } from '../../lib/errors.ts'
import {
  grantRoles,
  isRolePrefix,
  type RoleRequest,
  roleStatements,
  rolesOf,
} from '../../warehouse/postgres/roles.ts'
import { type CommandModule, flagOption, textOf } from '../command.ts'
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
  ],
  examples: ['muster roles --dry-run', 'muster roles --prefix acme_'],
  async run(context, _args, options) {
    const connection = context.connection()
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
    const request = { prefix, ...placeOf(connection) }
    const isDry = flagOption(options, 'dryRun')
    if (!isDry) await grant(connection, request)
    const statements = roleStatements(request)
    if (context.json) printJson(context, { roles: rolesOf(prefix), isDry, statements })
    else if (isDry) printLine(context, `begin;\n${statements.join(';\n')};\ncommit;`)
    else
      printLine(
        context,
        `${rolesOf(prefix).join(', ')} are up to date; set a password for the roles that log in`,
      )
    return 0
  },
}

/** Told by the address alone, so that the SQL can be printed before anybody may log in. */
function placeOf(connection: Connection): Omit<RoleRequest, 'prefix'> {
  const place = postgresPlace(connection)
  const { pathname, username } = new URL(place?.address.url ?? 'postgres://')
  // Where an address names no database, PostgreSQL takes the one that is named like the user.
  const database = decodeURIComponent(pathname.slice(1) || username)
  return { database, schemaPrefix: place?.options.schemaPrefix ?? '' }
}

async function grant(connection: Connection, request: RoleRequest): Promise<void> {
  const engine = await openToWrite(connection)
  try {
    await grantRoles(engine, request)
  } finally {
    await engine.close()
  }
}
