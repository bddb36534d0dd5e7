/** `muster crosscheck`: compares our metrics with the service's own; --calibrate first finds the definition that fits. */

import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { requireRoom } from '../../app/connection/storage.ts'
import { openMade } from '../../app/connection/warehouse.ts'
import { crosscheckFitted, type FittedCrosscheck } from '../../crosscheck/calibrated-crosscheck.ts'
import type { CrosscheckResult } from '../../crosscheck/crosscheck.ts'
import { type Grouping, groupingOf } from '../../crosscheck/metrics/metric-query.ts'
import { createAsker, type MetricClient } from '../../crosscheck/metrics/their-metrics.ts'
import { BudgetSpent, CheckFailed, type ExitStatus } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { migrate } from '../../state/migrate.ts'
import { stoppedResources } from '../../state/runs/resource-state.ts'
import { newRunId, startRun, updateRun } from '../../state/runs/runs.ts'
import type { Engine } from '../../warehouse/engine.ts'
import {
  type CommandModule,
  flagOption,
  integerBetween,
  listOption,
  numberOf,
  numberOption,
  type Options,
  repeated,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { groupingOption, rangeOf, rangeOptions, thresholdOption } from '../metric-options.ts'
import {
  crosscheckAsJson,
  disagreement,
  isAgreed,
  printCalibration,
  printCrosscheck,
} from '../reports/crosscheck-lines.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** The default groupings, for two metrics; they suit a nightly crosscheck. */
const defaultGroupings = ['all', 'company', 'project', 'agency', 'month', 'week']

export const command: CommandModule = {
  options: [
    {
      flags: '--calibrate',
      summary: 'first find out how the service computes its metrics; about 25 requests',
    },
    {
      flags: '--group-by <keys>',
      summary: 'compare only this grouping; may be repeated',
      parse: repeated(groupingOption),
    },
    ...rangeOptions,
    thresholdOption,
    {
      flags: '--max-requests <number>',
      summary: 'maximum number of requests',
      parse: integerBetween(1),
      fallback: 400,
    },
  ],
  lineage: 'none',
  notifies: true,
  examples: [
    'muster crosscheck',
    'muster crosscheck --calibrate --json',
    'muster crosscheck --group-by agency,month --from 2026-01-01',
  ],
  notes: ['Exit code 3 when a difference is unexplained.'],
  run: async (context, _, options) => {
    requireRoom(context.connection())
    const engine = await openMade(context.connection())
    try {
      return await runCrosscheck(context, engine, options)
    } finally {
      await engine.close()
    }
  },
}

const instant = ({ clock }: CommandContext): string => new Date(clock.now()).toISOString()

async function runCrosscheck(context: CommandContext, engine: Engine, options: Options): Promise<ExitStatus> {
  await migrate(engine, instant(context))
  const runId = newRunId(context.clock, context.rng)
  const words = flagOption(options, 'calibrate') ? '--calibrate' : ''
  await startRun(engine, {
    runId,
    command: 'crosscheck',
    arguments: words,
    startedAt: instant(context),
    version: programVersion,
  })
  const { client, close } = await openAdHocClient(context.connection(), context, engine)
  const asker = createAsker(client, numberOf(options, 'maxRequests'))
  const end = async (change: { state: 'done' | 'failed'; message: string }): Promise<void> => {
    const { requestsThisRun: requests, retries } = client.usage()
    await updateRun(engine, runId, { ...change, requests, retries, finished_at: instant(context) })
    await close()
  }
  try {
    if ((await client.getMe()).kind === 'agency') {
      await end({ state: 'done', message: nothingToCompare })
      if (context.json) printJson(context, { compared: [], reason: nothingToCompare })
      else printLine(context, nothingToCompare)
      return 0
    }
    const checked = await compareAll({ context, engine, asker, runId }, options)
    await end({ state: 'done', message: isAgreed(checked) ? 'agreed' : 'differences are unexplained' })
    if (!isAgreed(checked)) throw await failureOf(checked, engine)
    return 0
  } catch (error) {
    await end({ state: 'failed', message: error instanceof Error ? error.message : String(error) })
    throw error
  }
}

/** Unread records may explain any difference: a first load that takes days is not a failure. */
async function failureOf(checked: CrosscheckResult, engine: Engine): Promise<BudgetSpent | CheckFailed> {
  const what = disagreement(checked)
  const unread = await stoppedResources(engine)
  if (unread.length > 0)
    return new BudgetSpent({
      what: `${what}, and ${unread.join(', ')} ${unread.length === 1 ? 'is' : 'are'} not fully read`,
      next: 'the next sync continues; compare again after it',
    })
  return new CheckFailed({ what, next: 'the output names the records; mart.crosscheck keeps the figures' })
}

const nothingToCompare = 'nothing to compare: the service gives its metrics to company keys only'

interface CrosscheckSession {
  readonly context: CommandContext
  readonly engine: Engine
  readonly asker: MetricClient
  readonly runId: string
}

async function compareAll(session: CrosscheckSession, options: Options): Promise<CrosscheckResult> {
  const { context } = session
  const given = listOption<string>(options, 'groupBy')
  const groupings = (given.length > 0 ? given : defaultGroupings).map(text => groupingOf(text) as Grouping)
  const fitted = await crosscheckFitted(
    {
      ...session,
      now: () => instant(context),
      askedAt: instant(context),
      say: line => {
        if (!context.json) printLine(context, line)
      },
    },
    {
      ...{ groupings, threshold: numberOption(options, 'threshold'), range: rangeOf(options) },
      isAsked: flagOption(options, 'calibrate'),
    },
  )
  print(context, fitted)
  return fitted.checked
}

function print(context: CommandContext, { calibration, inForce, checked }: FittedCrosscheck): void {
  if (context.json) {
    printJson(context, crosscheckAsJson(checked, inForce, calibration))
    return
  }
  if (calibration) printCalibration(context, calibration)
  printCrosscheck(context, checked, inForce)
}
