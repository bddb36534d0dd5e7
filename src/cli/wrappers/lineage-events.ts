/** Sends lineage events around a command: start, then complete, fail or abort. They never change how it ends. */
import { randomUUID } from 'node:crypto'
import type { StoredConnection } from '../../config/connection.ts'
import type { LineageSettings } from '../../config/messages.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { type ExitStatus, MusterError } from '../../lib/errors.ts'
import { readMarts } from '../../marts/mart.ts'
import {
  type DatasetPlace,
  filePlace,
  serverPlace,
  servicePlace,
} from '../../telemetry/lineage/dataset-names.ts'
import { copyFlow, type Flow, martsFlow, recordsFlow } from '../../telemetry/lineage/datasets.ts'
import {
  asParent,
  type LineageEventType,
  type LineageRun,
  parentIn,
  runEvent,
} from '../../telemetry/lineage/events.ts'
import { Outlet } from '../../telemetry/lineage/outlet.ts'
import { serverAddress } from '../../warehouse/postgres/address.ts'
import type { LineageKind } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { lastWordsMs, soonAfter } from '../stop-signal.ts'
import { isLocked } from './retry-while-locked.ts'

const parentVariable = 'OPENLINEAGE_PARENT_ID'

export interface LineageJob {
  /** Called once the run is complete. */
  readonly kind: () => LineageKind
  /** Such as `sync` or `dag.run.nightly`. */
  readonly name: string
}

interface ReportedJob extends LineageJob {
  readonly connection: StoredConnection
  readonly settings: LineageSettings
}

/** One outlet per process: the tasks of a DAG share the time that events may take. */
const outlets = new WeakMap<AbortSignal, Outlet>()

function outletOf(
  context: CommandContext,
  { connection, settings }: Pick<ReportedJob, 'connection' | 'settings'>,
): Outlet {
  const { file, url, token, seconds } = settings
  const { signal, clock } = context
  const known = outlets.get(signal)
  if (known) return known
  const outlet = new Outlet(
    {
      file,
      url: url?.reveal(),
      token: token?.reveal(),
      proxies: connection.proxies,
      clock,
      signal: soonAfter(signal, lastWordsMs),
      guarded: guardedBy(context),
    },
    seconds * 1000,
  )
  outlets.set(signal, outlet)
  return outlet
}

/** Takes a second to build; the same for all runs of a process. */
let dictionary: Promise<Dictionary> | undefined

async function flowIn(
  context: CommandContext,
  kind: LineageKind,
  stored: StoredConnection,
): Promise<Flow | undefined> {
  if (kind === 'none') return undefined
  const { buildDictionary } = await import('../../dictionary/build.ts')
  dictionary ??= buildDictionary(readMarts())
  const warehouse = datasetPlaceOf(stored)
  if (kind === 'marts') return martsFlow(await dictionary, warehouse)
  if (kind !== 'records') return copyFlow(await dictionary, { warehouse, copy: filePlace(kind.copy) })
  return recordsFlow(await dictionary, { service: servicePlace(context.connection().baseUrl), warehouse })
}

const datasetPlaceOf = ({ warehouse, schemaPrefix }: StoredConnection): DatasetPlace =>
  warehouse.kind === 'file'
    ? filePlace(warehouse.file)
    : serverPlace({ ...serverAddress(warehouse.url.reveal()), schemaPrefix })

interface LineageEnding {
  readonly type: LineageEventType
  readonly reason?: string
}

/** Exit code 75 counts as complete: everything read is loaded. A signal or a locked warehouse counts as aborted. */
function endingOf({ signal, hidden }: CommandContext, status: ExitStatus, error?: unknown): LineageEnding {
  const said = error instanceof Error ? error.message : `it ended with exit code ${status}`
  if (signal.aborted || isLocked(error)) return { type: 'ABORT', reason: hidden(said) }
  return status === 0 || status === 75 ? { type: 'COMPLETE' } : { type: 'FAIL', reason: hidden(said) }
}

export async function withEvents(
  context: CommandContext,
  { kind, name, connection, settings }: ReportedJob,
  work: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const run: LineageRun = {
    runId: randomUUID(),
    job: { namespace: settings.namespace, name: `${connection.name}.${name}` },
    parent: parentIn(context.env[parentVariable]),
  }
  const outlet = outletOf(context, { connection, settings })
  const warn = (why: string): void =>
    void context.stderr.write(`warning: a lineage event was not sent: ${why}\n`)
  const emitEvent = async ({ type, reason }: LineageEnding): Promise<void> => {
    try {
      const flow = type === 'COMPLETE' ? await flowIn(context, kind(), connection) : undefined
      const event = runEvent(type, run, { at: context.clock.now(), flow, reason })
      for (const why of await outlet.send(event)) warn(why)
    } catch (error) {
      // Any error: it must not change how the run ends.
      warn(error instanceof Error ? error.message : String(error))
    }
  }
  await emitEvent({ type: 'START' })
  const within = { ...context, env: { ...context.env, [parentVariable]: asParent(run) } }
  try {
    // Does not start the run if a signal to stop arrived while the first event was sent.
    context.signal.throwIfAborted()
    const status = await work(within)
    await emitEvent(endingOf(context, status))
    return status
  } catch (error) {
    await emitEvent(endingOf(context, error instanceof MusterError ? error.exitCode : 1, error))
    throw error
  }
}
