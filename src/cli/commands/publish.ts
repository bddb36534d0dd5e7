/** `muster publish`: writes a fresh copy for analysts, without personal data, beside the working file. */

import { duckdbFile, openMade } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { programVersion } from '../../lib/program-version.ts'
import { publish } from '../../publish/publish.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

/** Readers of a server never wait for a writer, so there is nothing to copy. */
function notNeeded(context: CommandContext): 0 {
  const why = 'PostgreSQL needs no published copy: star and mart can be read there at any time'
  if (context.json) printJson(context, { published: false, why })
  else printLine(context, why)
  return 0
}

export const command: CommandModule = {
  name: 'publish',
  summary: 'write FILE.published.duckdb: star and mart, without personal data, for readers',
  examples: ['muster publish', 'muster publish --connection acme --json'],
  run: async context => {
    const connection = context.connection()
    if (duckdbFile(connection) === undefined) return notNeeded(context)
    const engine = await openMade(connection)
    try {
      const { clock, rng } = context
      const published = await publish({ engine, clock, rng, version: programVersion })
      if (context.json) {
        printJson(context, published)
        return 0
      }
      const filled = published.tables.filter(({ rows }) => rows > 0)
      printTable(
        context,
        ['table', 'rows'],
        filled.map(({ name, rows }) => [name, rows]),
      )
      const rows = filled.reduce((sum, table) => sum + table.rows, 0)
      const parts = `${published.tables.length} tables, ${published.views.length} views, ${counted(rows, 'row')}`
      printLine(context, `published ${parts}, ${(published.bytes / 1e6).toFixed(1)} MB: ${published.file}`)
      return 0
    } finally {
      await engine.close()
    }
  },
}
