/** `muster replay`: rebuild the warehouse from the landed pages. */

import { duckdbFile } from '../../app/connection/warehouse.ts'
import { type Rebuild, rebuildFile, rebuildServer } from '../../app/rebuild/rebuild.ts'
import { counted } from '../../lib/counted.ts'
import { type CommandModule, flagOption } from '../command.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'

export const command: CommandModule = {
  name: 'replay',
  summary: 'rebuild the warehouse from the landed pages, without one request',
  options: [{ flags: '--accept-loss', summary: 'also when the pages hold less than the warehouse' }],
  examples: ['muster replay', 'muster replay --json'],
  async run(context, _args, options) {
    const connection = context.connection()
    const file = duckdbFile(connection)
    const progress = createProgress(context)
    const rebuild: Rebuild = {
      connection,
      clock: context.clock,
      rng: context.rng,
      acceptLoss: flagOption(options, 'acceptLoss'),
      onProgress: ({ resource, done, walks }) =>
        progress.update({ resource, state: 'loading', pagesDone: done, pagesTotal: walks }),
    }
    const { outcome, missing } = await (file === undefined
      ? rebuildServer(rebuild)
      : rebuildFile(rebuild, file)
    ).finally(() => progress.stop())
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
