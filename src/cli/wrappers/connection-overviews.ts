/** Runs `muster status --all`: reads all overviews, a few at a time, and prints a line for each and a summary. */

import PQueue from 'p-queue'
import { overviewOf } from '../../app/connection/overview.ts'
import { connectionNamed } from '../../config/settings.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { type ExitStatus, MusterError, UsageError } from '../../lib/errors.ts'
import type { Overview } from '../../state/overview.ts'
import type { FinishedDagRun } from '../../state/runs/dag-runs.ts'
import type { CommandContext } from '../context.ts'
import { describeFailure } from '../failure.ts'
import {
  ageOf,
  printJson,
  printLine,
  printTable,
  type ShownCell,
  type ShownColumn,
} from '../terminal/output.ts'

/** An overview, or why it could not be read. */
interface SeenConnection {
  readonly connection: string
  /** Undefined before the first sync. */
  readonly overview?: Overview
  readonly failure?: string
}

const overviewColumns: readonly ShownColumn[] = [
  'connection',
  'last sync',
  'last DAG run',
  { title: 'behind', drop: 2 },
  { title: 'quarantine', drop: 3 },
  { title: 'left today', drop: 1 },
  'note',
]

const runWords = { done: 'done', later: 'partial', failed: 'failed' } as const

const lastRunOf = ({ dagRuns }: Overview): FinishedDagRun | undefined => dagRuns[0]

type ConnectionState = 'well' | 'partial' | 'failed' | 'not synced yet' | 'unreadable'

/** Judges by the last run of a DAG or, without one, by the last sync. */
function conditionOf({ overview, failure }: SeenConnection): ConnectionState {
  if (failure !== undefined) return 'unreadable'
  if (!overview) return 'not synced yet'
  const lastRun = lastRunOf(overview)
  if (lastRun) return lastRun.state === 'done' ? 'well' : lastRun.state === 'later' ? 'partial' : 'failed'
  const state = overview.sync?.state
  if (state === 'failed') return 'failed'
  return state === 'stopped' || state === 'incomplete' ? 'partial' : 'well'
}

const noteOf = ({ overview, failure }: SeenConnection): string => {
  if (failure !== undefined) return failure
  if (!overview) return 'not synced yet'
  const lastRun = lastRunOf(overview)
  return (lastRun ? lastRun.reason : overview.sync?.message) ?? ''
}

function overviewRow(seen: SeenConnection, nowMs: number): ShownCell[] {
  const { connection, overview } = seen
  if (!overview) return [connection, null, null, null, null, null, noteOf(seen)]
  const lastRun = lastRunOf(overview)
  return [
    connection,
    overview.lastSync ? ageOf(overview.lastSync, nowMs) : 'never',
    lastRun ? `${lastRun.dag} ${runWords[lastRun.state]}` : null,
    overview.behind.length,
    overview.quarantined,
    overview.spending?.remainingToday == null ? null : formatNumber(overview.spending.remainingToday),
    noteOf(seen),
  ]
}

const order: readonly ConnectionState[] = ['well', 'partial', 'failed', 'not synced yet', 'unreadable']

/** `200 connections: 197 well, 2 partial, 1 failed`. */
function overviewSummary(all: readonly SeenConnection[]): string {
  const conditions = all.map(conditionOf)
  const parts = order.flatMap(one => {
    const count = conditions.filter(condition => condition === one).length
    return count > 0 ? [`${formatNumber(count)} ${one}`] : []
  })
  return `${counted(all.length, 'connection')}: ${parts.join(', ')}`
}

const seenAsJson = (seen: SeenConnection) => ({
  connection: seen.connection,
  condition: conditionOf(seen),
  ...(seen.failure !== undefined && { failure: seen.failure }),
  overview: seen.overview ?? null,
})

/** Server sessions mostly wait for the network; reading a changed file takes a core. */
const atOnce = 8

async function see(context: CommandContext, name: string): Promise<SeenConnection> {
  try {
    const settings = context.storedSettingsOfAll()
    const fault = settings.faulty.get(name)
    if (fault !== undefined) return { connection: name, failure: fault }
    const overview = await overviewOf(connectionNamed(settings, name))
    return { connection: name, ...(overview && { overview }) }
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const { text } = describeFailure(error, {
      isVerbose: false,
      signal: context.signal,
      keyPlace: () => undefined,
    })
    return { connection: name, failure: text.replace(/^muster: /, '') }
  }
}

/** Returns 1 if a warehouse cannot be read. Failed runs only show in the lines. */
export async function everyOverview(context: CommandContext): Promise<ExitStatus> {
  if (context.globals.connection !== undefined)
    throw new UsageError({ what: '--all and --connection exclude each other', next: 'give one of them' })
  const queue = new PQueue({ concurrency: atOnce })
  const all = await Promise.all(context.connectionNames().map(name => queue.add(() => see(context, name))))
  if (context.json) printJson(context, all.map(seenAsJson))
  else {
    printLine(context, overviewSummary(all))
    const now = context.clock.now()
    printTable(
      context,
      overviewColumns,
      all.map(seen => overviewRow(seen, now)),
    )
  }
  return all.some(({ failure }) => failure !== undefined) ? 1 : 0
}
