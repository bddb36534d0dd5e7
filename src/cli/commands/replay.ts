/** `muster replay`: rebuilds the warehouse from the landed pages. */
import { duckdbFile, requireRoom } from '../../app/connection/storage.ts'
import type { WarehouseRebuild } from '../../app/rebuild/rebuild.ts'
import { rebuildFile } from '../../app/rebuild/rebuild-file.ts'
import { rebuildServer } from '../../app/rebuild/rebuild-server.ts'
import type { ReplayResult } from '../../app/rebuild/replay-group.ts'
import { counted } from '../../lib/counted.ts'
import { CheckFailed } from '../../lib/errors.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'

export const command: CommandModule = {
  options: [
    {
      flags: '--accept-loss',
      summary: 'replace the warehouse even if landed pages are damaged or have fewer rows',
    },
  ],
  notes: [
    'Exit code 3 when files of landed pages are damaged or missing, unless --accept-loss is given. Each is named, and the others are replayed.',
  ],
  lineage: 'records',
  examples: ['muster replay', 'muster replay --json'],
  async run(context, _args, options) {
    const connection = context.connection()
    requireRoom(connection)
    const file = duckdbFile(connection)
    const progress = createProgress(context)
    const rebuild: WarehouseRebuild = {
      connection,
      clock: context.clock,
      rng: context.rng,
      signal: context.signal,
      acceptLoss: flagOption(options, 'acceptLoss'),
      onProgress: ({ resource, done, scans }) => {
        context.signal.throwIfAborted()
        progress.update({ resource, state: 'loading', pagesDone: done, pagesTotal: scans })
      },
    }
    const { result, missing } = await (file === undefined
      ? rebuildServer(rebuild)
      : rebuildFile(rebuild, file)
    ).finally(() => progress.stop())
    if (context.json) printJson(context, { ...result, requests: 0, missing })
    else print(context, result, file === undefined)
    if (result.damaged.length === 0 || rebuild.acceptLoss) return 0
    throw new CheckFailed({
      what: `${counted(result.damaged.length, 'scan')} could not be replayed: ${result.damaged.map(({ scan }) => scan).join(', ')}`,
      next: 'muster backfill reads their records again',
    })
  },
}

function print(
  context: CommandContext,
  { scans, pages, records, damaged }: ReplayResult,
  isServer: boolean,
): void {
  const marts = isServer ? '' : '; muster build builds the marts again'
  printLine(
    context,
    `rebuilt from ${counted(scans, 'scan')}: ${counted(pages, 'page')}, ${counted(records, 'record')}, 0 requests${marts}`,
  )
  for (const { scan, what } of damaged)
    printLine(context, `damaged, and left out: ${scan}: ${what}; muster backfill reads its records again`)
}
