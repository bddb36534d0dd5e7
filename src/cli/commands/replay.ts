/** `muster replay`: rebuild the warehouse from the landed pages. */

import { duckdbFile } from '../../app/connection/warehouse.ts'
import { rebuildFile, rebuildServer } from '../../app/rebuild/rebuild.ts'
import { counted } from '../../lib/counted.ts'
import { type CommandModule, flagOption } from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const command: CommandModule = {
  name: 'replay',
  summary: 'rebuild the warehouse from the landed pages, without one request',
  options: [{ flags: '--accept-loss', summary: 'also when the pages hold less than the warehouse' }],
  examples: ['muster replay', 'muster replay --json'],
  async run(context, _args, options) {
    const connection = context.connection()
    const file = duckdbFile(connection)
    const rebuild = { context, connection, acceptLoss: flagOption(options, 'acceptLoss') }
    const { outcome, missing } =
      file === undefined ? await rebuildServer(rebuild) : await rebuildFile(rebuild, file)
    if (context.json) printJson(context, { ...outcome, requests: 0, missing })
    else {
      const { walks, pages, records } = outcome
      printLine(
        context,
        `rebuilt from ${counted(walks, 'walk')}: ${counted(pages, 'page')}, ${counted(records, 'record')}, 0 requests${file === undefined ? '' : '; muster build makes the marts again'}`,
      )
    }
    return 0
  },
}
