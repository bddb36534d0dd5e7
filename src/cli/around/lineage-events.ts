/** The events of lineage around a command: it starts, and it is complete, has failed or was stopped. They never change how it ends. */

import { randomUUID } from 'node:crypto'
import type { StoredConnection } from '../../config/connection.ts'
import type { LineageSettings } from '../../config/groups/lineage.ts'
import type { Dictionary } from '../../dictionary/entries.ts'
import { type ExitStatus, MusterError } from '../../lib/errors.ts'
import { soonAfter } from '../../lib/time/soon-after.ts'
import { readMarts } from '../../marts/mart.ts'
import { copyFlow, type Flow, martsFlow, recordsFlow } from '../../telemetry/lineage/datasets.ts'
import { asParent, type EventType, parentIn, type Run, runEvent } from '../../telemetry/lineage/events.ts'
import { Outlet } from '../../telemetry/lineage/outlet.ts'
import { filePlace, type Place, serverPlace, servicePlace } from '../../telemetry/lineage/places.ts'
import { serverAddress } from '../../warehouse/postgres/address.ts'
import type { LineageKind } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { lastWordsMs } from '../stop-signal.ts'
import { isHeld } from './while-held.ts'

const parentVariable = 'OPENLINEAGE_PARENT_ID'

export interface LineageJob {
  /** Asked for once the run is complete. */
  readonly kind: () => LineageKind
  /** Such as `sync` or `dag.run.nightly`. */
  readonly name: string
}

interface ToldJob extends LineageJob {
  readonly connection: StoredConnection
  readonly settings: LineageSettings
}

/** The tasks of a DAG run in one process, and share the time that events may take. */
const outlets = new WeakMap<AbortSignal, Outlet>()

function outletOf(
  context: CommandContext,
  { connection, settings }: Pick<ToldJob, 'connection' | 'settings'>,
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

/** It takes a second to make, and is the same for all runs of a process. */
let dictionary: Promise<Dictionary> | undefined

async function flowIn(
  context: CommandContext,
  kind: LineageKind,
  stored: StoredConnection,
): Promise<Flow | undefined> {
  if (kind === 'none') return undefined
  const { buildDictionary } = await import('../../dictionary/build.ts')
  dictionary ??= buildDictionary(readMarts())
  const warehouse = placeOf(stored)
  if (kind === 'marts') return martsFlow(await dictionary, warehouse)
  if (kind !== 'records') return copyFlow(await dictionary, { warehouse, copy: filePlace(kind.copy) })
  return recordsFlow(await dictionary, { service: servicePlace(context.connection().baseUrl), warehouse })
}

const placeOf = ({ warehouse, schemaPrefix }: StoredConnection): Place =>
  warehouse.kind === 'file'
    ? filePlace(warehouse.file)
    : serverPlace({ ...serverAddress(warehouse.url.reveal()), schemaPrefix })

interface Ending {
  readonly type: EventType
  readonly reason?: string
}

/** 75 loads what was read, the rest follows with the next run; one that found the warehouse held did nothing. */
function endingOf({ signal, hidden }: CommandContext, status: ExitStatus, error?: unknown): Ending {
  const said = error instanceof Error ? error.message : `it ended with exit code ${status}`
  if (signal.aborted || isHeld(error)) return { type: 'ABORT', reason: hidden(said) }
  return status === 0 || status === 75 ? { type: 'COMPLETE' } : { type: 'FAIL', reason: hidden(said) }
}

export async function withEvents(
  context: CommandContext,
  { kind, name, connection, settings }: ToldJob,
  work: (context: CommandContext) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const run: Run = {
    runId: randomUUID(),
    job: { namespace: settings.namespace, name: `${connection.name}.${name}` },
    parent: parentIn(context.env[parentVariable]),
  }
  const outlet = outletOf(context, { connection, settings })
  const warn = (why: string): void =>
    void context.stderr.write(`warning: an event of lineage was not sent: ${why}\n`)
  const tell = async ({ type, reason }: Ending): Promise<void> => {
    try {
      const flow = type === 'COMPLETE' ? await flowIn(context, kind(), connection) : undefined
      const event = runEvent(type, run, { at: context.clock.now(), flow, reason })
      for (const why of await outlet.send(event)) warn(why)
    } catch (error) {
      // Whatever it is: the run has ended as it has.
      warn(error instanceof Error ? error.message : String(error))
    }
  }
  await tell({ type: 'START' })
  const within = { ...context, env: { ...context.env, [parentVariable]: asParent(run) } }
  try {
    // Whoever asked to stop while the first event was on its way is not answered with a run.
    context.signal.throwIfAborted()
    const status = await work(within)
    await tell(endingOf(context, status))
    return status
  } catch (error) {
    await tell(endingOf(context, error instanceof MusterError ? error.exitCode : 1, error))
    throw error
  }
}
