/** Shared by sync, backfill and sweep: parses arguments, runs with progress, and prints the result. */

import { clockApart } from '../app/checkup/machine.ts'
import { requireRoom, roomWarning } from '../app/connection/storage.ts'
import { openToWrite, runConnection } from '../app/connection/warehouse.ts'
import type { StoredConnection } from '../config/connection.ts'
import { resourcesUnder } from '../config/fields.ts'
import { catalogue, collections, findResource } from '../contract/catalogue.ts'
import { counted, formatNumber } from '../lib/counted.ts'
import { type ExitStatus, UsageError } from '../lib/errors.ts'
import { programVersion } from '../lib/package.ts'
import { choiceOf } from '../lib/text/nearest.ts'
import { readDrift } from '../state/evidence/accepted-drift.ts'
import { type IncompleteResource, incompleteResources } from '../state/scans/completeness.ts'
import { tableInQueries } from '../state/tables.ts'
import { type RunRequest, type RunResult, runSync } from '../sync/run/run.ts'
import type { RunConnection } from '../sync/run/run-connection.ts'
import type { ResourceResult } from '../sync/run/task.ts'
import type { Engine } from '../warehouse/engine.ts'
import { numberOption, type Options } from './command.ts'
import type { CommandContext } from './context.ts'
import { incompleteLines } from './reports/incomplete.ts'
import { formatSeconds, printJson, printLine, printTable, type ShownColumn } from './terminal/output.ts'
import { createProgress, isEachLogged } from './terminal/progress.ts'

/** Throws UsageError for an unknown resource and, with `lists`, for one that is read by id. */
export function resourceNames(args: readonly string[], of: 'lists' | 'all' = 'all'): readonly string[] {
  const names = (of === 'lists' ? collections : catalogue).map(({ name }) => name)
  for (const name of args) {
    if (names.includes(name)) continue
    if (findResource(name))
      throw new UsageError({
        what: `${name} are read by id, not by created day`,
        next: `muster sync ${name} reads them; the others are ${names.join(', ')}`,
      })
    throw new UsageError({ what: `there is no resource ${name}`, next: choiceOf(name, names) })
  }
  return args
}

export function limitsOf(context: CommandContext, options: Options): RunRequest['limits'] {
  const maxRequests = numberOption(options, 'maxRequests')
  const span = numberOption(options, 'deadline')
  return {
    ...(maxRequests !== undefined && { maxRequests }),
    ...(span !== undefined && { deadline: context.clock.now() + span }),
    ...(context.waitMs() > 0 && { patienceMs: context.waitMs() }),
  }
}

const changedRows = (result: ResourceResult): number =>
  result.rows_inserted + result.rows_changed + result.rows_removed

export function summary(result: RunResult): string {
  const { resources, requests, remainingToday, milliseconds, clockAheadMs } = result
  const changed = resources.reduce((sum, result) => sum + changedRows(result), 0)
  const touched = resources.reduce((sum, result) => sum + result.records_touched, 0)
  const checked = resources.reduce((sum, result) => sum + result.records_read, 0)
  const quarantined = resources.reduce((sum, result) => sum + result.quarantined, 0)
  const quarantineNote =
    quarantined > 0 ? `, ${quarantined} quarantined (select * from ${tableInQueries('quarantine')})` : ''
  const left = remainingToday === undefined ? '' : `, ${formatNumber(remainingToday)} left today`
  const apart = clockApart(clockAheadMs)
  const spent = `${counted(requests, 'request')}${left}`
  const also = touched > 0 ? `${formatNumber(touched)} touched, ` : ''
  const rows = `${formatNumber(changed)} changed, ${also}${formatNumber(checked)} checked${quarantineNote}`
  return [rows, spent, formatSeconds(milliseconds), apart].filter(Boolean).join('; ')
}

const resultColumns: readonly ShownColumn[] = [
  'resource',
  'state',
  { title: 'requests', drop: 2 },
  { title: 'checked', drop: 1 },
  'added',
  'changed',
  { title: 'touched', drop: 3 },
  'removed',
  { title: 'note', breaks: true },
]

function printRunResult(
  context: CommandContext,
  result: RunResult,
  incomplete: readonly IncompleteResource[],
): void {
  if (context.json) {
    const { assumedToday, ...reported } = result
    const resources = result.resources.map(({ error, ...rest }) => rest)
    printJson(context, {
      ...reported,
      remainingToday: result.remainingToday ?? null,
      clockAheadMs: result.clockAheadMs ?? null,
      resources,
      incomplete,
      failure: result.failure?.message ?? null,
    })
    return
  }
  const rows = result.resources.map(one => [
    one.resource,
    one.state,
    one.requests,
    one.records_read,
    one.rows_inserted,
    one.rows_changed,
    one.records_touched,
    one.rows_removed,
    one.note,
  ])
  if (rows.length > 0 && !isEachLogged(context)) printTable(context, resultColumns, rows)
  // If nothing was read, the failure alone says enough.
  if (rows.length > 0) for (const line of incompleteLines(incomplete)) printLine(context, line)
  printLine(context, summary(result))
}

/** Resources of the run that are still incomplete after it, whether or not it reached them. */
async function leftOver(engine: Engine, { resources }: RunRequest): Promise<IncompleteResource[]> {
  const found = (await incompleteResources(engine)) ?? []
  return resources.length === 0 ? [...found] : found.filter(({ resource }) => resources.includes(resource))
}

/** One line for each resource of the run that warns of differences from the contract. */
async function driftLines(
  engine: Engine,
  { schemaPolicy }: StoredConnection,
  read: readonly ResourceResult[],
): Promise<string[]> {
  const warned = resourcesUnder('warn', schemaPolicy).filter(name => read.some(one => one.resource === name))
  if (warned.length === 0) return []
  const waiting = (await readDrift(engine)).filter(row => row.accepted_at === null)
  return warned.flatMap(name => {
    const paths = waiting.filter(({ resource }) => resource === name).map(({ path }) => path)
    return paths.length === 0
      ? []
      : [`${name} differs from the contract: ${paths.join(', ')}; see muster drift`]
  })
}

/** Runs, prints the result, and throws the failure of a run that did not finish. */
export async function runAndPrint(context: CommandContext, request: RunRequest): Promise<ExitStatus> {
  const connection = context.connection()
  requireRoom(connection)
  // One thread: statements touch few rows, and each batch is staged with a thread of its own.
  const engine = await openToWrite(connection, 1)
  try {
    await engine.requireReader()
    const result = await runShown(context, { connection: runConnection(connection), engine }, request)
    // If the warehouse failed during the run, a second failure here must not hide the first.
    printRunResult(context, result, result.failure ? await leftOver(engine, request).catch(() => []) : [])
    for (const line of await driftLines(engine, connection, result.resources)) context.notice(line)
    const warning = roomWarning(connection)
    if (warning !== undefined) context.notice(warning)
    if (result.failure) throw result.failure
    return 0
  } finally {
    await engine.close()
  }
}

interface RunTarget {
  readonly connection: RunConnection
  readonly engine: Engine
}

/** Runs a sync and shows its progress. A failure is part of the result. */
export async function runShown(
  context: CommandContext,
  { connection, engine }: RunTarget,
  request: RunRequest,
): Promise<RunResult> {
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
      onUnreached: sentence => context.notice(sentence),
    })
  } finally {
    progress.stop()
  }
}
