/** `muster runs [RUN_ID]`: lists the runs of the ledger, or shows one in detail. */

import { openToRead } from '../../app/connection/warehouse.ts'
import { UsageError } from '../../lib/errors.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { lostRuns, recentRuns, resourcesOfRun, runNamed } from '../../state/runs/runs.ts'
import type { RunResourceRow, RunRow } from '../../state/runs/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type CommandModule, integerBetween, numberOf } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [{ name: '[run]', summary: 'id of a run, or the beginning of it' }],
  options: [
    { flags: '--limit <number>', summary: 'number of runs to show', parse: integerBetween(1), fallback: 20 },
  ],
  examples: ['muster runs', 'muster runs --limit 5 --json', 'muster runs 20260102T023000000Z-k3x9'],
  run: async (context, [id], options) => {
    const { handle: engine } = await openToRead(context.stored(), context, { threads: 1 })
    try {
      if (id === undefined) {
        printRuns(context, await readRuns(engine, numberOf(options, 'limit')))
        return 0
      }
      const run = await runNamed(engine, id)
      if (!run) {
        const what = `no run, or more than one, begins with ${id}`
        throw new UsageError({ what, next: 'muster runs lists them' })
      }
      const keeps = (await existingTables(engine)).has('run_resource')
      printRun(context, run, keeps ? await resourcesOfRun(engine, run.run_id) : undefined)
      return 0
    } finally {
      await engine.close()
    }
  },
}

/** Marks a run whose process died without finishing; the next sync closes its row. */
async function readRuns(engine: Engine, limit: number): Promise<RunRow[]> {
  const tables = await existingTables(engine)
  if (!tables.has('run')) return []
  const lost = tables.has('lease') ? await lostRuns(engine) : []
  return (await recentRuns(engine, limit)).map(run =>
    lost.includes(run.run_id)
      ? { ...run, message: 'its process died without finishing; the next sync records that' }
      : run,
  )
}

function seconds({ started_at, finished_at }: RunRow): number | null {
  return finished_at === null
    ? null
    : Math.round((Date.parse(finished_at) - Date.parse(started_at)) / 100) / 10
}

const changed = (row: RunRow | RunResourceRow): number =>
  Number(row.rows_inserted) + Number(row.rows_changed) + Number(row.rows_removed)

function printRuns(context: CommandContext, runs: readonly RunRow[]): void {
  if (context.json) {
    printJson(context, runs)
    return
  }
  printTable(
    context,
    [
      // Never shortened: users pass it to `muster runs`.
      { title: 'run', minWidth: Number.POSITIVE_INFINITY },
      'command',
      'state',
      'seconds',
      'requests',
      'checked',
      'changed',
      'quarantined',
      { title: 'message', breaks: true },
    ],
    runs.map(run => [
      run.run_id,
      `${run.command} ${run.arguments}`.trim(),
      run.state,
      seconds(run),
      Number(run.requests),
      Number(run.records_read),
      changed(run),
      Number(run.quarantined),
      run.message,
    ]),
  )
}

function printRun(
  context: CommandContext,
  run: RunRow,
  resources: readonly RunResourceRow[] | undefined,
): void {
  if (context.json) {
    printJson(context, { ...run, resources: resources ?? null })
    return
  }
  const took = seconds(run)
  printLine(context, `${run.run_id}: ${`${run.command} ${run.arguments}`.trim()}, ${run.state}`)
  printLine(
    context,
    `began ${run.started_at}${took === null ? '' : `, took ${took} s`}, muster ${run.program_version}`,
  )
  if (run.message !== null) printLine(context, run.message)
  if (!resources) {
    printLine(context, 'only the working file has the details of each resource')
    return
  }
  printTable(
    context,
    [
      'resource',
      'state',
      'requests',
      'checked',
      'added',
      'changed',
      { title: 'touched', drop: 1 },
      'removed',
      'quarantined',
      { title: 'note', breaks: true },
    ],
    resources.map(one => [
      one.resource,
      one.state,
      Number(one.requests),
      Number(one.records_read),
      Number(one.rows_inserted),
      Number(one.rows_changed),
      Number(one.records_touched),
      Number(one.rows_removed),
      Number(one.quarantined),
      one.note,
    ]),
  )
}
