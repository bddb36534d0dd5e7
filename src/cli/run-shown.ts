/** A run of a sync whose progress is shown while it goes on. */
import { programVersion } from '../lib/program-version.ts'
import { type RunConnection, type RunOutcome, type RunRequest, runSync } from '../sync/run/run.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { CommandContext } from './context.ts'
import { createProgress } from './terminal/progress.ts'

interface Target {
  readonly connection: RunConnection
  readonly engine: Engine
}

/** What became of it, its failure included. */
export async function runShown(
  context: CommandContext,
  { connection, engine }: Target,
  request: RunRequest,
): Promise<RunOutcome> {
  const progress = createProgress(context)
  try {
    return await runSync(connection, request, {
      engine,
      clock: context.clock,
      rng: context.rng,
      signal: context.signal,
      version: programVersion,
      emit: event => progress.update(event),
      onBudget: budget => progress.budget(budget),
    })
  } finally {
    progress.stop()
  }
}
