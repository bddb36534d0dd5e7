/** `muster upgrade`: upgrades the warehouse to the schema of this version, without any request. */

import { duckdbFile } from '../../app/connection/storage.ts'
import { isMade, openMade, openUnchanged } from '../../app/connection/warehouse.ts'
import { programVersion } from '../../lib/package.ts'
import { migrate } from '../../state/migrate.ts'
import { recordedSchema, schemaVersion } from '../../state/migrations.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** Undefined for a database without tables of Muster. */
async function schemaBefore(context: CommandContext): Promise<number | undefined> {
  const connection = context.stored()
  if (!isMade(connection)) return undefined
  const engine = await openUnchanged(connection)
  try {
    return await recordedSchema(engine)
  } finally {
    await engine.close()
  }
}

export const command: CommandModule = {
  notes: [
    'Every command that writes the warehouse upgrades it first; this one does only that, for example after an update.',
    'On a server it runs in one transaction, as the owner of the warehouse. A warehouse of a later version is left unchanged.',
  ],
  examples: ['muster upgrade', 'muster upgrade --connection acme'],
  async run(context) {
    const before = await schemaBefore(context)
    const engine = await openMade(context.stored())
    try {
      const changed = await migrate(engine, new Date(context.clock.now()).toISOString())
      const place = duckdbFile(context.stored()) ?? engine.location
      if (context.json) printJson(context, { warehouse: place, from: before ?? null, to: schemaVersion })
      else if (before === undefined) printLine(context, `${place}: created, schema ${schemaVersion}`)
      else if (before < schemaVersion)
        printLine(context, `${place}: upgraded from schema ${before} to ${schemaVersion}`)
      else
        printLine(
          context,
          `${place}: ${changed ? 'brought up' : 'is up'} to date with muster ${programVersion}, schema ${schemaVersion}`,
        )
      return 0
    } finally {
      await engine.close()
    }
  },
}
