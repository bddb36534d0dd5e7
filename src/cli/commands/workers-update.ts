/** `muster workers update FILE`: updates an agency's workers from a file. */
import type { CommandModule } from '../command.ts'
import { runWorkers, workerOptions } from '../workers-command.ts'

export const command: CommandModule = {
  arguments: [{ name: '<file>', summary: 'JSON, NDJSON or CSV, one worker per row, with its id' }],
  options: workerOptions,
  examples: ['muster workers update changes.csv --dry-run', 'muster workers update cards.json --json'],
  run: (context, [file], options) => runWorkers(context, 'update', { file, options }),
}
