/** What sync, backfill and sweep share: their arguments, a run with its progress, and its outcome for people or programs. */

import { clockApart } from '../app/checkup/clock.ts'
import { requireRoom, roomWarning } from '../app/connection/room.ts'
import { openToWrite, runConnection } from '../app/connection/warehouse.ts'
import { catalogue, collections, findResource } from '../contract/catalogue.ts'
import { counted, formatNumber } from '../lib/counted.ts'
import { type ExitStatus, UsageError } from '../lib/errors.ts'
import { programVersion } from '../lib/package.ts'
import { choiceOf } from '../lib/text/nearest.ts'
import { type NotWhole, notWhole } from '../state/scans/wholeness.ts'
import { tableInQueries } from '../state/tables.ts'
import { type RunOutcome, type RunRequest, runSync } from '../sync/run/run.ts'
import type { RunConnection } from '../sync/run/run-connection.ts'
import type { ResourceOutcome } from '../sync/run/sync.ts'
import type { Engine } from '../warehouse/engine.ts'
import { numberOption, type Options } from './command.ts'
import type { CommandContext } from './context.ts'
import { notWholeLines } from './reports/not-whole.ts'
import { type Column, formatSeconds, printJson, printLine, printTable } from './terminal/output.ts'
import { createProgress, isEachLogged } from './terminal/progress.ts'

/** Throws UsageError for a name that is no resource, and with `lists` for a resource that is read by id. */
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

const changedRows = (outcome: ResourceOutcome): number =>
  outcome.rows_inserted + outcome.rows_changed + outcome.rows_removed

export function summary(outcome: RunOutcome): string {
  const { resources, requests, remainingToday, milliseconds, clockAheadMs } = outcome
  const changed = resources.reduce((sum, outcome) => sum + changedRows(outcome), 0)
  const touched = resources.reduce((sum, outcome) => sum + outcome.records_touched, 0)
  const checked = resources.reduce((sum, outcome) => sum + outcome.records_read, 0)
  const quarantined = resources.reduce((sum, outcome) => sum + outcome.quarantined, 0)
  const kept =
    quarantined > 0 ? `, ${quarantined} quarantined (select * from ${tableInQueries('quarantine')})` : ''
  const left = remainingToday === undefined ? '' : `, ${formatNumber(remainingToday)} left today`
  const apart = clockApart(clockAheadMs)
  const spent = `${counted(requests, 'request')}${left}`
  const also = touched > 0 ? `${formatNumber(touched)} touched, ` : ''
  const rows = `${formatNumber(changed)} changed, ${also}${formatNumber(checked)} checked${kept}`
  return [rows, spent, formatSeconds(milliseconds), apart].filter(Boolean).join('; ')
}

const outcomeColumns: readonly Column[] = [
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

function printOutcome(context: CommandContext, outcome: RunOutcome, notWhole: readonly NotWhole[]): void {
  if (context.json) {
    const { assumedToday, ...told } = outcome
    const resources = outcome.resources.map(({ error, ...rest }) => rest)
    printJson(context, {
      ...told,
      remainingToday: outcome.remainingToday ?? null,
      clockAheadMs: outcome.clockAheadMs ?? null,
      resources,
      notWhole,
      failure: outcome.failure?.message ?? null,
    })
    return
  }
  const rows = outcome.resources.map(one => [
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
  if (rows.length > 0 && !isEachLogged(context)) printTable(context, outcomeColumns, rows)
  // Of a run that came to nothing its failure says all.
  if (rows.length > 0) for (const line of notWholeLines(notWhole)) printLine(context, line)
  printLine(context, summary(outcome))
}

/** Of the resources that the run was to read, those that are not whole after it, whether it came to them or not. */
async function leftOver(engine: Engine, { resources }: RunRequest): Promise<NotWhole[]> {
  const found = (await notWhole(engine)) ?? []
  return resources.length === 0 ? [...found] : found.filter(({ resource }) => resources.includes(resource))
}

/** Runs, prints the outcome, and throws the failure of a run that did not finish. */
export async function runAndPrint(context: CommandContext, request: RunRequest): Promise<ExitStatus> {
  const connection = context.connection()
  requireRoom(connection)
  // Its statements are of few rows, and pages are staged with one thread for each batch.
  const engine = await openToWrite(connection, 1)
  try {
    await engine.requireReader()
    const outcome = await runShown(context, { connection: runConnection(connection), engine }, request)
    // A warehouse that failed during the run would hide why with its next failure.
    printOutcome(context, outcome, outcome.failure ? await leftOver(engine, request).catch(() => []) : [])
    const warning = roomWarning(connection)
    if (warning !== undefined) context.notice(warning)
    if (outcome.failure) throw outcome.failure
    return 0
  } finally {
    await engine.close()
  }
}

interface Target {
  readonly connection: RunConnection
  readonly engine: Engine
}

/** Runs a sync and shows its progress. A failure is part of the result. */
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
      onUnreached: sentence => context.notice(sentence),
    })
  } finally {
    progress.stop()
  }
}
