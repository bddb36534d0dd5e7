/** The commands of a DAG run, each as a scheduler would start it, and how each ended. */

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
import type { ByIdName, ResourceName } from './climate.ts'
import { MachineClock, type SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import type { Disk } from './warehouses.ts'

export interface Place {
  readonly seed: number
  /** The true time. */
  readonly clock: SimulatedClock
  /** Milliseconds by which the clock of the machine may be wrong. */
  readonly clockShifts: readonly number[]
  readonly disk: Disk
  readonly url: string
  /** Rules of the field policy, by pattern. */
  readonly fields: Readonly<Record<string, Treatment>>
  /** Of the runs so far; no two have the same random numbers, and so the same id. */
  runs: number
  /** Whether an event was ever stored: a kill may have left it in the inbox. */
  hasEvents: boolean
}

export interface Ended {
  readonly command: string
  readonly code: number
  readonly message: string
  readonly outcome?: RunResult
  /** What it printed with --json. */
  readonly printed?: string
}

function rngOf(place: Place, what: string): Rng {
  place.runs += 1
  return namedRng(place.seed, `${what} ${place.runs}`)
}

/** For the next process. */
function machineClock({ clock, clockShifts: shifts, seed, runs }: Place): Clock {
  return shifts.length === 0
    ? clock
    : new MachineClock(clock, { shifts, rng: namedRng(seed, `clock ${runs}`) })
}

function runOf(place: Place, engine: Engine, request: Omit<RunRequest, 'arguments'>): Promise<RunResult> {
  const { url, disk, fields } = place
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
      // Real time: longer than any answer takes on a busy machine, as only an answer that never comes should meet it.
      timeouts: { headersTimeout: 3000, bodyTimeout: 10_000 },
    },
    { ...request, arguments: request.resources.join(' ') },
    {
      engine,
      clock: machineClock(place),
      rng: rngOf(place, request.command),
      signal: new AbortController().signal,
      version: 'simulation',
      emit: () => undefined,
      onBudget: () => undefined,
    },
  )
}

function endOf(command: string, outcome: RunResult): Ended {
  const { failure } = outcome
  return { command, code: failure ? (failure.exitCode ?? 1) : 0, message: failure?.message ?? '', outcome }
}

/** With `most`, as somebody runs it who knows that so many rows of a snapshot are gone. */
export async function sync(
  place: Place,
  engine: Engine,
  { names, maxDeletions }: { readonly names: readonly ResourceName[]; readonly maxDeletions?: number },
): Promise<Ended> {
  const resources = ['key', ...names]
  const request = {
    command: 'sync',
    resources,
    limits: {},
    ...(maxDeletions === undefined ? {} : { maxDeletions }),
  }
  return endOf('sync', await runOf(place, engine, request))
}

/** A sync of records without a list: it says nothing of lists. */
export const fetchById = async (
  place: Place,
  engine: Engine,
  names: readonly ByIdName[],
): Promise<Ended> => ({ ...(await sync(place, engine, { names })), command: 'sync of ids' })

/** Snapshots find what is gone by themselves. */
const isSwept = (name: ResourceName): boolean => name !== 'access-rules'

export async function sweep(
  place: Place,
  engine: Engine,
  { names, maxDeletions }: { readonly names: readonly ResourceName[]; readonly maxDeletions?: number },
): Promise<Ended | undefined> {
  const resources = names.filter(isSwept)
  if (resources.length === 0) return undefined
  const request = {
    command: 'sweep',
    resources,
    limits: {},
    sweep: maxDeletions === undefined ? {} : { maxDeletions },
  }
  return endOf('sweep', await runOf(place, engine, request))
}

/** Where the events of a warehouse wait, as `muster serve` keeps them. */
function storeOf({ disk }: Place, engine: Engine): InboxStore {
  return engine.isShared
    ? tableStore({ ...engine, close: async () => undefined })
    : logStore(`${disk.folder}/inbox`)
}

/** Deliveries, in order. The service sends again what was not stored. */
export type Deliveries = { readonly body: Buffer; sent: number }[]

/** Deliveries are stored and drained. */
export async function receive(
  place: Place,
  engine: Engine,
  { deliveries, counts }: { readonly deliveries: Deliveries; readonly counts: Counts },
): Promise<Ended> {
  const { clock } = place
  place.hasEvents = true
  const store = storeOf(place, engine)
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
  place.runs += 1
  const drained = await drainInbox(engine, { id: `drain ${place.runs}`, at: clock.iso })
  counts.add('events drained', drained)
  await store.close()
  return { command: 'events', code: 0, message: `${drained} drained` }
}

/** Any command of the program, which opens the warehouse itself. */
export async function program(place: Place, line: string): Promise<Ended> {
  const { url, disk } = place
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
      clock: machineClock(place),
      rng: rngOf(place, line),
      signal: new AbortController().signal,
    },
    commandSet,
  )
  return { command: line, code, message: err.trim().slice(-2000), printed: out }
}
