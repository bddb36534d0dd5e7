/** `muster status`: shows how complete and how fresh the warehouse is, with the proof. */
import { inboxBounds } from '../../app/connection/storage.ts'
import { openToRead } from '../../app/connection/warehouse.ts'
import { type LakeStatus, lakeAddresses, readLakes } from '../../app/lake.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { MusterError } from '../../lib/errors.ts'
import { type Coverage, readCoverage } from '../../state/by-id/coverage.ts'
import { type Absence, absences } from '../../state/evidence/absence.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { type EventFigures, readEventFigures } from '../../state/inbox/figures.ts'
import { type CrosscheckVerdict, lastCrosscheck } from '../../state/marts/metrics.ts'
import { budgetSeen, type ReportedBudget } from '../../state/requests/key-state.ts'
import { type CurrentLease, currentLeases } from '../../state/runs/leases.ts'
import { lastDoneSync, type ResourceState, resourceState } from '../../state/runs/resource-state.ts'
import { lostRuns } from '../../state/runs/runs.ts'
import {
  completenessOf,
  type IncompleteResource,
  incompleteResources,
} from '../../state/scans/completeness.ts'
import { apiKeyId } from '../../sync/run/key.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printHealth } from '../reports/data-health.ts'
import { incompleteLines } from '../reports/incomplete.ts'
import { lakeLine } from '../reports/lake-line.ts'
import {
  budgetLine,
  countedSince,
  coverageLines,
  crosscheckLine,
  deletionLines,
  emptyLine,
  eventLine,
  holderLine,
  lostRunLine,
  pagingLine,
  printWindows,
  resourceColumns,
  resourceRow,
  retentionDaysOf,
  retentionText,
  summaryLine,
} from '../reports/status-lines.ts'
import { ageOf, printJson, printLine, printTable } from '../terminal/output.ts'

interface Status {
  readonly resources: readonly ResourceState[]
  /** End of the last sync that was done. */
  readonly lastDone: string | null
  readonly budget: ReportedBudget | undefined
  /** Of the records read by id; undefined for a file without these tables. */
  readonly coverage: Coverage | undefined
  /** Recent webhook events; undefined for a file without these tables. */
  readonly events: EventFigures | undefined
  readonly leases: readonly CurrentLease[]
  readonly absences: readonly Absence[]
  /** Undefined for a published copy without the tables that record it. */
  readonly incomplete: readonly IncompleteResource[] | undefined
  /** Undefined before the first crosscheck. */
  readonly crosscheck: CrosscheckVerdict | undefined
  /** Ids of runs whose process died without finishing. */
  readonly lost: readonly string[]
  /** Last publication to each lake; the error if it cannot be reached. */
  readonly lakes: readonly LakeStatus[] | MusterError
}

/** A lake that cannot be reached hides nothing else. */
async function lakesOf(context: CommandContext): Promise<Status['lakes']> {
  try {
    return await readLakes(context.stored(), context)
  } catch (error) {
    if (error instanceof MusterError) return error
    throw error
  }
}

export const command: CommandModule = {
  options: [{ flags: '--windows', summary: 'list every scan with its proof' }],
  takesAll: async context => (await import('../wrappers/connection-overviews.ts')).everyOverview(context),
  examples: ['muster status', 'muster status --all', 'muster status --windows', 'muster status --json'],
  run: async (context, _, options) => {
    const {
      handle: engine,
      file,
      isPublished,
    } = await openToRead(context.stored(), context, { needs: 'data', threads: 1 })
    try {
      if (!(await existingTables(engine)).has('run')) {
        await printHealth(context, engine)
        return 0
      }
      const status = await readStatus(context, engine)
      const windows = flagOption(options, 'windows')
      if (context.json)
        printJson(context, {
          ...asJson(status, { file, isPublished, windows }),
          retention: { days: retentionDaysOf(context.stored()) },
        })
      else await printStatus(context, status, windows)
      return 0
    } finally {
      await engine.close()
    }
  },
}

async function readStatus(context: CommandContext, engine: Engine): Promise<Status> {
  const resources: ResourceState[] = []
  const words = await completenessOf(engine)
  for (const resource of catalogue) resources.push(await resourceState(engine, resource, words))
  const { apiKey } = context.stored()
  const lastDone = await lastDoneSync(engine)
  const budget = apiKey && (await budgetSeen(engine, apiKeyId(apiKey.reveal())))
  // Only the warehouse itself has leases; a published copy would show the processes at the time of publishing.
  const isItself = (await existingTables(engine)).has('lease')
  return {
    resources,
    lastDone,
    budget,
    coverage: await readCoverage(engine),
    events: await readEventFigures(engine, countedSince(context.clock.now())),
    absences: await absences(engine),
    incomplete: await incompleteResources(engine),
    crosscheck: await lastCrosscheck(engine),
    leases: isItself ? await currentLeases(engine) : [],
    lost: isItself ? await lostRuns(engine) : [],
    lakes: await lakesOf(context),
  }
}

function printLakes(context: CommandContext, lakes: Status['lakes']): void {
  if (lakes instanceof MusterError)
    printLine(context, `lake: ${lakes.report.what}: ${lakeAddresses(context.stored()).join(', ')}`)
  else for (const lake of lakes) printLine(context, lakeLine(lake, context.clock.now()))
}

async function printStatus(context: CommandContext, status: Status, windows: boolean): Promise<void> {
  const {
    resources,
    lastDone,
    budget,
    coverage,
    events,
    leases,
    lost,
    absences,
    incomplete: lacking,
  } = status
  const freshness =
    lastDone === null ? 'no sync has finished yet' : `last sync ${ageOf(lastDone, context.clock.now())}`
  printLine(context, `${summaryLine(resources)}; ${freshness}`)
  printTable(context, resourceColumns, resources.map(resourceRow))
  if (windows) printWindows(context, resources)
  for (const line of incompleteLines(lacking ?? [])) printLine(context, line)
  for (const line of resources.flatMap(one => emptyLine(one) ?? [])) printLine(context, line)
  for (const line of resources.flatMap(one => pagingLine(one) ?? [])) printLine(context, line)
  if (coverage) for (const line of coverageLines(coverage)) printLine(context, line)
  for (const line of deletionLines(absences)) printLine(context, line)
  printLine(context, `retention: ${retentionText(context.stored())}`)
  printLine(context, crosscheckLine(status.crosscheck, context.clock.now()))
  const line = events && eventLine(events, context.clock.now(), inboxBounds(context.stored()))
  if (line !== undefined) printLine(context, line)
  printLakes(context, status.lakes)
  for (const lease of leases) printLine(context, holderLine(lease))
  for (const id of lost) printLine(context, lostRunLine(id))
  const { apiKey } = context.stored()
  printLine(context, apiKey ? budgetLine(budget) : 'budget: not shown, because no API key is set')
}

const lakesJson = (lakes: Status['lakes']) =>
  lakes instanceof MusterError
    ? null
    : lakes.map(({ address, snapshot }) => ({
        address,
        run: snapshot?.run ?? null,
        publishedAt: snapshot?.publishedAt ?? null,
        complete: snapshot?.complete ?? null,
      }))

function asJson(
  status: Status,
  { file, isPublished, windows }: { file: string; isPublished: boolean; windows: boolean },
) {
  const {
    resources,
    lastDone,
    budget,
    coverage,
    events,
    leases,
    lost,
    absences,
    incomplete: lacking,
  } = status
  return {
    file,
    isPublished,
    lastDone,
    summary: summaryLine(resources),
    budget: budget ?? null,
    coverage: coverage ?? null,
    events: events ?? null,
    leases,
    lostRuns: lost,
    deletions: absences,
    incomplete: lacking ?? null,
    crosscheck: status.crosscheck ?? null,
    lakes: lakesJson(status.lakes),
    resources: resources.map(({ windows: list, ...rest }) => ({
      ...rest,
      ...(windows && { windows: list }),
    })),
  }
}
