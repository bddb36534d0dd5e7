/** `muster replay`: rebuild the warehouse from the landed pages. */
import { MusterError } from '../../lib/errors.ts'
import { type ReplayOutcome, replay } from '../../sync/replay.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { newRunId } from '../../warehouse/ledger/run-id.ts'
import { startRun, updateRun } from '../../warehouse/ledger/runs.ts'
import { migrate } from '../../warehouse/migrate.ts'
import { carryOver, type Missing, removeFile, swapIn } from '../../warehouse/swap.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { formatNumber, printJson, printLine } from '../output.ts'
import { createProgress } from '../progress.ts'
import { duckdbFile, openToWrite, programVersion } from '../warehouse.ts'

interface Rebuilt {
  readonly outcome: ReplayOutcome
  readonly missing: readonly Missing[]
}

const iso = (context: CommandContext): string => new Date(context.clock.now()).toISOString()

async function recordRun(
  context: CommandContext,
  engine: Engine,
  { records, quarantined }: ReplayOutcome,
): Promise<void> {
  const runId = newRunId(context.clock, context.rng)
  await startRun(engine, {
    runId,
    command: 'replay',
    arguments: '',
    startedAt: iso(context),
    version: programVersion,
  })
  await updateRun(engine, runId, {
    state: 'done',
    finished_at: iso(context),
    records_read: records,
    quarantined,
  })
}

/** Nobody else may write the old file while it is rebuilt: opening it to write proves that nobody does. */
async function requireFree(context: CommandContext): Promise<void> {
  await (await openToWrite(context.connection())).close()
}

async function rebuild(context: CommandContext, target: string, file: string): Promise<Rebuilt> {
  removeFile(target)
  const engine = await openDuckdb(target)
  const progress = createProgress(context)
  try {
    await migrate(engine, iso(context))
    const outcome = await replay(engine, context.connection().landing, ({ resource, done, walks }) =>
      progress.update({ resource, state: 'loading', pagesDone: done, pagesTotal: walks }),
    )
    const missing = await carryOver(engine, file)
    await recordRun(context, engine, outcome)
    return { outcome, missing }
  } finally {
    progress.stop()
    await engine.close()
  }
}

function refuseLoss(target: string, missing: readonly Missing[]): never {
  removeFile(target)
  const rows = missing.map(({ table, rows }) => `${formatNumber(rows)} of ${table}`).join(', ')
  throw new MusterError({
    what: `the landed pages no longer hold everything the warehouse does: ${rows} would be missing`,
    next: 'nothing was changed; raise retentionDays, read them again with muster backfill, or pass --accept-loss',
  })
}

export const command: CommandModule = {
  name: 'replay',
  summary: 'rebuild the warehouse from the landed pages, without one request',
  options: [{ flags: '--accept-loss', summary: 'also when the pages hold less than the warehouse' }],
  examples: ['muster replay', 'muster replay --json'],
  async run(context, _args, options) {
    const file = duckdbFile(context.connection())
    const target = `${file}.replay`
    await requireFree(context)
    const { outcome, missing } = await rebuild(context, target, file)
    if (missing.length > 0 && !flagOption(options, 'acceptLoss')) refuseLoss(target, missing)
    swapIn(target, file)
    if (context.json) printJson(context, { ...outcome, requests: 0, missing })
    else {
      const { walks, pages, records } = outcome
      printLine(
        context,
        `rebuilt from ${formatNumber(walks)} walks: ${formatNumber(pages)} pages, ${formatNumber(records)} records, 0 requests`,
      )
    }
    return 0
  },
}
