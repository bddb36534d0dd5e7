/** `muster workers update FILE`: changes to workers of an agency, from a file of many. */
import type { CommandModule } from '../command.ts'
import { runWorkers, workerOptions } from '../workers-command.ts'

export const command: CommandModule = {
  arguments: [{ name: '<file>', summary: 'JSON, NDJSON or CSV, one worker a row, with its id' }],
  options: workerOptions,
  examples: ['muster workers update changes.csv --dry-run', 'muster workers update cards.json --json'],
  run: (context, [file], options) => runWorkers(context, 'update', { file, options }),
}
