/** Runs the commands of a DAG as a scheduler would, and returns the result of each. */

import { commandSet } from '../../src/cli/commands.ts'
import { run as runProgram } from '../../src/cli/program.ts'
import type { Treatment } from '../../src/contract/derived/field-rules.ts'
import { drainInbox } from '../../src/events/drain.ts'
import { readEvent } from '../../src/events/event.ts'
import { type InboxStore, logStore, tableStore } from '../../src/events/store.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'
import { type RunRequest, type RunResult, runSync } from '../../src/sync/run/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { MachineClock, type SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import type { ByIdName, ResourceName } from './scenario.ts'
import type { Disk } from './warehouses.ts'

export interface RunEnvironment {
  readonly seed: number
  /** The true time. */
  readonly clock: SimulatedClock
  /** Milliseconds by which the machine's clock may be wrong. */
  readonly clockShifts: readonly number[]
  readonly disk: Disk
  readonly url: string
  /** Rules of the field policy, by pattern. */
  readonly fields: Readonly<Record<string, Treatment>>
  /** Counts the runs so far, to seed each run's random numbers and so its id. */
  runs: number
  /** Whether any event was ever stored: after a kill it may still be in the inbox. */
  hasEvents: boolean
}

export interface CommandResult {
  readonly command: string
  readonly code: number
  readonly message: string
  readonly outcome?: RunResult
  /** Its standard output, for commands with --json. */
  readonly printed?: string
}

function nextRng(environment: RunEnvironment, what: string): Rng {
  environment.runs += 1
  return namedRng(environment.seed, `${what} ${environment.runs}`)
}

/** The clock for the next process. */
function machineClock({ clock, clockShifts: shifts, seed, runs }: RunEnvironment): Clock {
  return shifts.length === 0
    ? clock
    : new MachineClock(clock, { shifts, rng: namedRng(seed, `clock ${runs}`) })
}

function runResources(
  environment: RunEnvironment,
  engine: Engine,
  request: Omit<RunRequest, 'arguments'>,
): Promise<RunResult> {
  const { url, disk, fields } = environment
  const rules = Object.entries(fields).map(([pattern, treatment]) => ({ pattern, treatment }))
  return runSync(
    {
      baseUrl: url,
      apiKey: sandboxKeys.company,
      landing: `${disk.folder}/landing`,
      retentionDays: 30,
      fields: { rules, key: 'key of the simulation' },
      lookbackMinutes: 15,
      pageCapBytes: 64 * 1_048_576,
      // Real time. Longer than any response takes on a busy machine, so that only a hanging response times out.
      timeouts: { headersTimeout: 3000, bodyTimeout: 10_000 },
    },
    { ...request, arguments: request.resources.join(' ') },
    {
      engine,
      clock: machineClock(environment),
      rng: nextRng(environment, request.command),
      signal: new AbortController().signal,
      version: 'simulation',
      emit: () => undefined,
      onBudget: () => undefined,
    },
  )
}

function toCommandResult(command: string, outcome: RunResult): CommandResult {
  const { failure } = outcome
  return { command, code: failure ? (failure.exitCode ?? 1) : 0, message: failure?.message ?? '', outcome }
}

/** With `maxDeletions`, as an operator runs it who confirms that this many rows of a snapshot are gone. */
export async function sync(
  environment: RunEnvironment,
  engine: Engine,
  { names, maxDeletions }: { readonly names: readonly ResourceName[]; readonly maxDeletions?: number },
): Promise<CommandResult> {
  const resources = ['key', ...names]
  const request = {
    command: 'sync',
    resources,
    limits: {},
    ...(maxDeletions === undefined ? {} : { maxDeletions }),
  }
  return toCommandResult('sync', await runResources(environment, engine, request))
}

/** Syncs resources that are read by id. Its result is labelled so that the laws about lists ignore it. */
export const fetchById = async (
  environment: RunEnvironment,
  engine: Engine,
  names: readonly ByIdName[],
): Promise<CommandResult> => ({ ...(await sync(environment, engine, { names })), command: 'sync by id' })

/** A snapshot detects deletions without a sweep. */
const isSwept = (name: ResourceName): boolean => name !== 'access-rules'

export async function sweep(
  environment: RunEnvironment,
  engine: Engine,
  { names, maxDeletions }: { readonly names: readonly ResourceName[]; readonly maxDeletions?: number },
): Promise<CommandResult | undefined> {
  const resources = names.filter(isSwept)
  if (resources.length === 0) return undefined
  const request = {
    command: 'sweep',
    resources,
    limits: {},
    sweep: maxDeletions === undefined ? {} : { maxDeletions },
  }
  return toCommandResult('sweep', await runResources(environment, engine, request))
}

/** Opens the inbox of a warehouse, the one that `muster serve` writes to. */
function openInboxStore({ disk }: RunEnvironment, engine: Engine): InboxStore {
  return engine.isShared
    ? tableStore({ ...engine, close: async () => undefined })
    : logStore(`${disk.folder}/inbox`)
}

/** Deliveries in order, with the number of attempts. The service repeats a delivery until it is stored. */
export type Deliveries = { readonly body: Buffer; sent: number }[]

/** Stores the deliveries, then drains the inbox. */
export async function receive(
  environment: RunEnvironment,
  engine: Engine,
  { deliveries, counts }: { readonly deliveries: Deliveries; readonly counts: Counts },
): Promise<CommandResult> {
  const { clock } = environment
  environment.hasEvents = true
  const store = openInboxStore(environment, engine)
  const fresh = [...deliveries]
  for (const delivery of fresh) {
    if (delivery.sent > 0) counts.add('events sent again')
    delivery.sent += 1
  }
  const events = fresh.map(({ body }) => readEvent({ body, nowMs: clock.now() }) as InboxEvent)
  if (events.length > 0) await store.store(events)
  deliveries.splice(0, fresh.length)
  counts.add('events stored', fresh.length)
  await store.load(engine)
  environment.runs += 1
  const drained = await drainInbox(engine, { id: `drain ${environment.runs}`, at: clock.iso })
  counts.add('events drained', drained)
  await store.close()
  return { command: 'events', code: 0, message: `${drained} drained` }
}

/** Runs a command line of the program, which opens the warehouse itself. */
export async function runCommand(environment: RunEnvironment, line: string): Promise<CommandResult> {
  const { url, disk } = environment
  let [out, err] = ['', '']
  const code = await runProgram(
    line.split(' '),
    {
      env: {
        MUSTER_BASE_URL: url,
        MUSTER_API_KEY: sandboxKeys.company,
        MUSTER_WAREHOUSE: disk.address,
        MUSTER_LANDING: `${disk.folder}/landing`,
      },
      cwd: disk.folder,
      startedAs: [],
      stdout: {
        write: text => {
          out += text
        },
      },
      stderr: {
        write: text => {
          err += text
        },
      },
      clock: machineClock(environment),
      rng: nextRng(environment, line),
      signal: new AbortController().signal,
    },
    commandSet,
  )
  return { command: line, code, message: err.trim().slice(-2000), printed: out }
}
