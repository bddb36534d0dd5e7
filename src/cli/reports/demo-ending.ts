/** What the demo says at its end: what the second sync found, the proof, some figures of the marts, and what to try next. */
import { join } from 'node:path'
import type { BuildResult } from '../../marts/build.ts'
import type { RunOutcome } from '../../sync/run/run.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { CommandContext } from '../context.ts'
import { invocation } from '../invocation.ts'
import { formatSeconds, printLine, printTable } from '../terminal/output.ts'
import { accrualTable, changesTable, labourTable, proofTable, workingTimeTable } from './demo-tables.ts'

function builtLine({ marts, milliseconds }: BuildResult): string {
  const built = marts.filter(({ state }) => state === 'built').length
  const others = marts
    .filter(({ state }) => state !== 'built')
    .map(({ name, message }) => `${name} (${message})`)
  const not = others.length > 0 ? `, not built: ${others.join(', ')}` : ''
  return `${built} marts built and checked in ${formatSeconds(milliseconds)}${not}`
}

export interface Told {
  /** Where the demo keeps its files, from the folder of the user. */
  readonly folder: string
  readonly first: RunOutcome
  readonly second: RunOutcome
  readonly built: BuildResult
  /** The file of the report, from the folder of the user. */
  readonly report: string
  /** Where `muster dashboard` listens unless told otherwise. */
  readonly dashboard: string
}

async function tellMarts(context: CommandContext, engine: Engine): Promise<void> {
  const say = (text: string): void => printLine(context, text)
  say('\nCost of the approved labour of the last eight weeks, by agency (mart.labour_spend_weekly):')
  printTable(context, ...(await labourTable(engine)))
  say('\nWorkers near the 48 hours of the Working Time Regulations (mart.worker_week):')
  printTable(context, ...(await workingTimeTable(engine)))
  say('\nWork that is not invoiced yet (mart.unbilled_accrual):')
  printTable(context, ...(await accrualTable(engine)))
}

export async function tellEnding(
  context: CommandContext,
  engine: Engine,
  { folder, first, second, built, report, dashboard }: Told,
): Promise<void> {
  const say = (text: string): void => printLine(context, text)
  say(`\nChanges that the second sync found, with ${second.requests} requests instead of ${first.requests}:`)
  printTable(context, ...changesTable(second))
  say('\nProof that it is complete: every window saw at least as many ids as the service counted.')
  printTable(context, ...(await proofTable(engine)))
  say(`\n${builtLine(built)}`)
  await tellMarts(context, engine)
  const program = invocation(context.env)
  const muster = `${program} --config ${join(folder, 'muster.yaml')}`
  say(`\nThe warehouse is ${join(folder, 'demo.duckdb')}. Next:`)
  say(`  ${muster} status`)
  say(`  ${muster} sql "from mart.headcount_weekly limit 9"`)
  say(`  ${muster} docs       # every table and column`)
  say(`  ${muster} publish    # a copy without names`)
  say(`  ${muster} dashboard  # figures as pages`)
  say(`  ${program} sandbox  # a sandbox of your own to try things out`)
  say(`\nThe report: ${report}`)
  say(`The dashboard, once it runs: ${dashboard}`)
}
