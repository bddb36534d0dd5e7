/** Creates or updates the workers of a file: reads it, checks every row, then sends row by row. */
import { dirname } from 'node:path'
import type { Client } from '../../api/client/client.ts'
import type { Connection } from '../../config/connection.ts'
import { Stopped, stopWords } from '../../lib/errors.ts'
import { openAdHocClient } from '../connection/ad-hoc-client.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Checked, checkRows, type Operation, type Target } from './check-rows.ts'
import { alone } from './one-run.ts'
import { OutcomeFile } from './outcome-file.ts'
import type { Problem } from './row-list.ts'
import { readRows } from './rows.ts'
import { type Result, sendRows } from './send-rows.ts'
import { chosenAgency, requireAgencyKey, requireScope } from './writing-key.ts'

export interface WorkersRequest {
  readonly connection: Connection
  readonly operation: Operation
  readonly file: string
  /** The file as the user named it. */
  readonly shown: string
  /** As the user named it; needed when the key spans several. */
  readonly agency: string | undefined
  /** Whether the file may name files outside of its folder. */
  readonly allowOutside: boolean
}

export interface WorkersReport {
  readonly results: readonly Result[]
  readonly problems: readonly Problem[]
  /** Valid rows that were not sent. */
  readonly unsent: number
  /** The failure that ended the run early. */
  readonly failure?: unknown
}

/** Throws UsageError for a file that cannot be read at all, and Stopped. */
export async function checkWorkers(request: WorkersRequest, signal: AbortSignal): Promise<Checked> {
  try {
    return await checkedFile(request, signal)
  } catch (error) {
    if (error !== signal.reason) throw error
    throw new Stopped({
      what: stopWords(signal),
      next: `nothing of ${request.shown} was sent; run the command again`,
    })
  }
}

async function checkedFile(
  { connection, operation, file, shown, ...rest }: WorkersRequest,
  signal: AbortSignal,
): Promise<Checked> {
  const { rows, problems } = await readRows(file, shown, signal)
  // A wrong heading is wrong in every row: it is reported once.
  if (problems.some(({ row }) => row === 1 && file.toLowerCase().endsWith('.csv')))
    return { ready: [], problems }
  const target = { operation, baseUrl: connection.baseUrl, ...rest, folder: dirname(file) }
  const checked = await checkRows(rows, target, signal)
  return { ready: checked.ready, problems: [...problems, ...checked.problems].sort(byRow) }
}

const byRow = (left: Problem, right: Problem): number => left.row - right.row

/** `onProgress` is called with the number of rows dealt with. */
export async function sendWorkers(
  request: WorkersRequest,
  checked: Checked,
  surroundings: Surroundings & { readonly onProgress: (rows: number) => void },
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

interface Work {
  readonly client: Client
  readonly target: Target
  readonly checked: Checked
}

async function sendAll(
  { file, shown }: WorkersRequest,
  { client, target, checked }: Work,
  { clock, signal, onProgress }: Surroundings & { readonly onProgress: (rows: number) => void },
): Promise<WorkersReport> {
  const wanted = new Set(checked.ready.map(({ hash }) => hash))
  const place = { file: `${file}.outcome.ndjson`, shown: `${shown}.outcome.ndjson` }
  const outcomes = await OutcomeFile.open(place, wanted, signal)
  const results: Result[] = []
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
