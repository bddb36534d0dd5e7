/** Creates or updates the workers of a file: reads it, checks every row, then sends row by row. */
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import type { Client } from '../../api/client/client.ts'
import type { Connection } from '../../config/connection.ts'
import { CommandStopped, MusterError, stopWords } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { isAlive } from '../../lib/is-alive.ts'
import { openAdHocClient } from '../connection/ad-hoc-client.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import { type CheckedRows, checkRows, type WorkerOperation, type WorkerTarget } from './check-rows.ts'
import { OutcomeFile } from './outcome-file.ts'
import { type RowProblem, readRows } from './rows.ts'
import { type RowResult, sendRows } from './send-rows.ts'
import { chosenAgency, requireAgencyKey, requireScope } from './writing-key.ts'

/** Throws MusterError while another process works on the file. Takes over the lock of a killed process. */
async function alone<Result>(
  { file, shown }: { readonly file: string; readonly shown: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${file}.lock`
  const holder = `${hostname()} ${process.pid}\n`
  if (!isTaken(lock, holder)) return released(lock, work)
  if (isAbandoned(lock)) rmSync(lock, { force: true })
  if (!isTaken(lock, holder)) return released(lock, work)
  throw new MusterError({
    what: `another run is writing ${shown}`,
    next: `wait until it ends; if there is none, remove ${shown}.lock`,
  })
}

async function released<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes the lock unless it is taken. Creating a link is atomic, so the lock always contains its holder. */
function isTaken(lock: string, holder: string): boolean {
  const own = `${lock}.${process.pid}`
  try {
    writeFileSync(own, holder, { mode: 0o600 })
    linkSync(own, lock)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    throw new MusterError({
      what: `${lock} cannot be written`,
      next: 'check its folder and permissions',
      cause: error,
    })
  } finally {
    rmSync(own, { force: true })
  }
}

/** Whether the holder is a dead process of this machine; processes of other machines are unknown. */
function isAbandoned(lock: string): boolean {
  const read = readInputText(lock, { maxBytes: 4096 })
  // The holder just ended and removed its lock.
  if (typeof read !== 'string') return read.isMissing
  const [host, pid] = read.trim().split(' ')
  return host === hostname() && /^\d+$/.test(pid ?? '') && !isAlive(Number(pid))
}

export interface WorkersRequest {
  readonly connection: Connection
  readonly operation: WorkerOperation
  readonly file: string
  /** The file as the user named it. */
  readonly shown: string
  /** Value of --agency; needed when the key spans several. */
  readonly agency: string | undefined
  /** Whether the file may name files outside of its folder. */
  readonly allowOutside: boolean
}

export interface WorkersReport {
  readonly results: readonly RowResult[]
  readonly problems: readonly RowProblem[]
  /** Valid rows that were not sent. */
  readonly unsent: number
  /** The failure that ended the run early. */
  readonly failure?: unknown
}

/** Throws UsageError for a file that cannot be read at all, and Stopped. */
export async function checkWorkers(request: WorkersRequest, signal: AbortSignal): Promise<CheckedRows> {
  try {
    return await checkedFile(request, signal)
  } catch (error) {
    if (error !== signal.reason) throw error
    throw new CommandStopped({
      what: stopWords(signal),
      next: `nothing of ${request.shown} was sent; run the command again`,
    })
  }
}

async function checkedFile(
  { connection, operation, file, shown, ...rest }: WorkersRequest,
  signal: AbortSignal,
): Promise<CheckedRows> {
  const { rows, problems } = await readRows(file, shown, signal)
  // A wrong heading is wrong in every row: it is reported once.
  if (problems.some(({ row }) => row === 1 && file.toLowerCase().endsWith('.csv')))
    return { ready: [], problems }
  const target = { operation, baseUrl: connection.baseUrl, ...rest, folder: dirname(file) }
  const checked = await checkRows(rows, target, signal)
  return { ready: checked.ready, problems: [...problems, ...checked.problems].sort(byRow) }
}

const byRow = (left: RowProblem, right: RowProblem): number => left.row - right.row

/** Calls `onProgress` with the number of rows processed. */
export async function sendWorkers(
  request: WorkersRequest,
  checked: CheckedRows,
  surroundings: RuntimeContext & { readonly onProgress: (rows: number) => void },
): Promise<WorkersReport> {
  const { connection, operation, file, allowOutside } = request
  const { client, close } = await openAdHocClient(connection, surroundings)
  try {
    const key = await client.getMe()
    requireAgencyKey(key)
    requireScope(key, 'write:workers')
    const agency = chosenAgency(key, request.agency)
    const target = { operation, baseUrl: connection.baseUrl, agency, allowOutside, folder: dirname(file) }
    return await alone(request, () => sendAll(request, { client, target, checked }, surroundings))
  } finally {
    await close()
  }
}

interface WorkersRun {
  readonly client: Client
  readonly target: WorkerTarget
  readonly checked: CheckedRows
}

async function sendAll(
  { file, shown }: WorkersRequest,
  { client, target, checked }: WorkersRun,
  { clock, signal, onProgress }: RuntimeContext & { readonly onProgress: (rows: number) => void },
): Promise<WorkersReport> {
  const wanted = new Set(checked.ready.map(({ hash }) => hash))
  const place = { file: `${file}.outcome.ndjson`, shown: `${shown}.outcome.ndjson` }
  const outcomes = await OutcomeFile.open(place, wanted, signal)
  const results: RowResult[] = []
  const failure = await sendRows(checked.ready, {
    client,
    target,
    outcomes,
    clock,
    signal,
    onResult: result => {
      results.push(result)
      onProgress(results.length)
    },
  })
  const unsent = checked.ready.length - results.length
  return { results, problems: checked.problems, unsent, ...(failure !== undefined && { failure }) }
}
