/** `muster build`: rebuilds marts whose sources or definitions changed. */
import { martSettings } from '../../app/all-marts.ts'
import { requireRoom } from '../../app/connection/storage.ts'
import { openMade } from '../../app/connection/warehouse.ts'
import type { AlertQuery } from '../../app/notify/alert-query.ts'
import { alertQueries, evaluateAlerts } from '../../app/notify/evaluate-alerts.ts'
import { counted } from '../../lib/counted.ts'
import { Busy, MusterError, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { type BuildRequest, type BuildResult, buildMarts, type MartResult } from '../../marts/build.ts'
import { everyCheck, martGate } from '../../marts/checks/gate.ts'
import { type Mart, readMarts } from '../../marts/mart.ts'
import { type AlertFinding, alertText } from '../../state/notifications/alerts.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { formatSeconds, printJson, printLine, printTable, type ShownColumn } from '../terminal/output.ts'
import { createProgress, isEachLogged, type ProgressDisplay } from '../terminal/progress.ts'

interface WithheldMart {
  readonly name: string
  readonly message: string | null
}

/** Marts named for each reason; the table of the build lists all. */
const namedAtMost = 3

/** Why marts were not built, one text per reason: `a, b, c, 21 more (permission denied for schema mart)`. */
export function withheldReasons(marts: readonly WithheldMart[]): string[] {
  const byReason = new Map<string | null, string[]>()
  for (const { name, message } of marts) byReason.set(message, [...(byReason.get(message) ?? []), name])
  return [...byReason].map(([message, names]) => {
    const more = names.length - namedAtMost
    const shown = more > 1 ? [...names.slice(0, namedAtMost), `${more} more`] : names
    return `${shown.join(', ')} (${message ?? 'no reason is known'})`
  })
}

/** Accepts names with or without the schema. */
function martNames(args: readonly string[], marts: readonly Mart[]): readonly string[] {
  const names = marts.map(({ name }) => name)
  return args.map(arg => {
    const name = arg.replace(/^mart\./, '')
    if (names.includes(name)) return name
    throw new UsageError({ what: `there is no mart ${arg}`, next: choiceOf(name, names) })
  })
}

const progressStates = {
  building: 'loading',
  built: 'done',
  unchanged: 'skipped',
  removed: 'done',
  waiting: 'failed',
  failed: 'failed',
  refused: 'failed',
} as const

function show(progress: ProgressDisplay, event: MartResult | { name: string; state: 'building' }): void {
  const { name: resource } = event
  const state = progressStates[event.state]
  if (event.state === 'building') {
    progress.update({ resource, state })
    return
  }
  const note = noteOf(event) || (event.state === 'unchanged' ? 'unchanged' : '')
  progress.update({
    resource,
    state,
    ...(event.rows !== null && { rows: event.rows }),
    ...(note !== '' && { note }),
    isMinor: event.state === 'unchanged',
  })
}

const warned = ({ findings }: MartResult): string =>
  findings
    .filter(({ severity }) => severity === 'warn')
    .map(({ check, rows }) => `warning ${check}: ${counted(rows, 'row')}`)
    .join(', ')

const noteOf = (mart: MartResult): string => [mart.message, warned(mart)].filter(Boolean).join('; ')

function printMarts(context: CommandContext, touched: readonly MartResult[]): void {
  const titles: readonly ShownColumn[] = ['mart', 'state', 'rows', 'seconds', { title: 'note', breaks: true }]
  printTable(
    context,
    titles,
    touched.map(mart => [
      mart.name,
      mart.state,
      mart.rows,
      Math.round(mart.milliseconds / 10) / 100,
      noteOf(mart),
    ]),
  )
}

function print(context: CommandContext, { marts, asOf, milliseconds }: BuildResult): void {
  const touched = marts.filter(({ state }) => state !== 'unchanged')
  const seconds = formatSeconds(milliseconds)
  const since = asOf === null ? 'nothing was synced yet' : `as of ${asOf}`
  if (touched.length === 0) {
    printLine(context, `nothing changed: ${marts.length} marts are up to date, ${since}; ${seconds}`)
    return
  }
  if (!isEachLogged(context)) printMarts(context, touched)
  const built = marts.filter(({ state }) => state === 'built')
  const rows = built.reduce((sum, mart) => sum + (mart.rows ?? 0), 0)
  const same = marts.filter(({ state }) => state === 'unchanged').length
  const counts = `${built.length} built, ${counted(rows, 'row')}, ${same} unchanged`
  printLine(context, `${counts}, ${since}; ${seconds}`)
}

/** Marts rejected by their checks: the data is at fault, not the program. */
class MartsRefused extends MusterError {
  override readonly exitCode = 3
}

/** Marts that wait for another mart have no reason of their own. */
function kindOf(withheld: readonly MartResult[]): typeof MusterError {
  const failed = withheld.filter(({ state }) => state === 'failed')
  if (failed.some(({ isLocked }) => !isLocked)) return MusterError
  if (withheld.some(({ state }) => state === 'refused')) return MartsRefused
  return failed.length > 0 ? Busy : MusterError
}

function requireAll({ marts }: BuildResult): void {
  const withheld = marts.filter(({ state }) => ['failed', 'refused', 'waiting'].includes(state))
  if (withheld.length === 0) return
  throw new (kindOf(withheld))({
    what: `${withheld.length} of ${marts.length} marts were not built: ${withheldReasons(withheld).join('; ')}`,
    next: 'they keep their earlier rows; run muster build again when the cause is fixed',
  })
}

async function build(context: CommandContext, engine: Engine, request: BuildRequest): Promise<BuildResult> {
  const progress = createProgress(context)
  try {
    return await buildMarts(
      {
        engine,
        clock: context.clock,
        rng: context.rng,
        signal: context.signal,
        version: programVersion,
        gate: martGate(everyCheck(request.marts)),
        onMart: event => show(progress, event),
      },
      request,
    )
  } finally {
    progress.stop()
  }
}

/** The mart of alerts is built again, so that it shows what this build has found. */
async function judgeAlerts(
  context: CommandContext,
  engine: Engine,
  { queries, request }: { readonly queries: readonly AlertQuery[]; readonly request: BuildRequest },
): Promise<readonly AlertFinding[]> {
  const findings = await evaluateAlerts(engine, queries, new Date(context.clock.now()).toISOString())
  if (!findings) return []
  await build(context, engine, { ...request, names: ['alert'], all: false })
  return findings
}

function printAlerts(context: CommandContext, findings: readonly AlertFinding[]): void {
  for (const found of findings) {
    if (found.state === 'fires') printLine(context, `alert ${alertText(found)}`)
    if (found.state === 'unknown') printLine(context, `alert ${found.alert} was not evaluated: ${found.note}`)
  }
}

export const command: CommandModule = {
  arguments: [
    {
      name: '[marts...]',
      summary: 'only these and the marts that they read; default: all',
      completes: 'mart',
    },
  ],
  options: [{ flags: '--all', summary: 'also rebuild marts that have not changed' }],
  lineage: 'marts',
  notifies: true,
  examples: ['muster build', 'muster build worker_week --all', 'muster build --json'],
  async run(context, args, options) {
    const marts = readMarts()
    const connection = context.stored()
    const request = {
      marts,
      names: martNames(args, marts),
      all: flagOption(options, 'all'),
      ...martSettings(connection),
    }
    // Fails before anything is built.
    const queries = alertQueries(connection.alerts, marts)
    requireRoom(connection)
    const engine = await openMade(connection)
    try {
      const outcome = await build(context, engine, request)
      const alerts = await judgeAlerts(context, engine, { queries, request })
      if (context.json) printJson(context, { ...outcome, alerts })
      else {
        print(context, outcome)
        printAlerts(context, alerts)
      }
      requireAll(outcome)
      return 0
    } finally {
      await engine.close()
    }
  },
}
