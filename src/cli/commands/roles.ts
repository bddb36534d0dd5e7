/** `muster roles`: the roles that own, load and read a PostgreSQL warehouse. */

import { duckdbFile, openToWrite } from '../../app/connection/warehouse.ts'
import { UsageError } from '../../lib/errors.ts'
import { grantRoles, isRolePrefix, plannedRoles, rolesOf } from '../../warehouse/postgres/roles.ts'
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
    const engine = await openToWrite(connection)
    try {
      const isDry = flagOption(options, 'dryRun')
      const statements = await (isDry ? plannedRoles : grantRoles)(engine, prefix)
      if (context.json) printJson(context, { roles: rolesOf(prefix), isDry, statements })
      else if (isDry) printLine(context, `begin;\n${statements.join(';\n')};\ncommit;`)
      else
        printLine(
          context,
          `${rolesOf(prefix).join(', ')} are up to date; set a password for the roles that log in`,
        )
      return 0
    } finally {
      await engine.close()
    }
  },
}
