/** `muster workers create FILE`: creates an agency's workers from a file. */
import type { CommandModule } from '../command.ts'
import { runWorkers, workerOptions } from '../workers-command.ts'

export const command: CommandModule = {
  arguments: [{ name: '<file>', summary: 'JSON, NDJSON or CSV, one worker per row' }],
  options: workerOptions,
  examples: [
    'muster workers create starters.csv --dry-run',
    'muster workers create starters.csv --agency 65f0c2a1b3d4e5f60718293a',
    'muster workers create starters.json --skip-invalid --json',
  ],
  run: (context, [file], options) => runWorkers(context, 'create', { file, options }),
}
