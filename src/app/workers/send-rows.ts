/** Sends rows one after the other, and records the outcome of each before and after it is sent. */
import type { Client } from '../../api/client/client.ts'
import { AccessDenied, BadRequest, Conflict, NotFound, WriteUnsettled } from '../../api/client/errors.ts'
import {
  type ChangedWorker,
  createWorker,
  type NewWorker,
  updateWorker,
  type WorkerResult,
} from '../../api/workers.ts'
import type { Clock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import { buildBody, type ReadyRow, type WorkerBody, type WorkerTarget } from './check-rows.ts'
import type { OutcomeFile, WriteOutcome } from './outcome-file.ts'

export interface RowResult {
  readonly row: number
  /** The agency's own id of a new worker, or the id of an updated one. */
  readonly worker: string
  readonly outcome: WriteOutcome | 'done before'
  readonly id?: string
  readonly reference?: string
  readonly note?: string
}

export interface SendRequest {
  readonly client: Client
  readonly target: WorkerTarget
  readonly outcomes: OutcomeFile
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onResult: (result: RowResult) => void
}

/** After this many missing answers in a row the service is at fault, not the rows. */
const maxUnsettled = 3

/** Returns the failure that ended it early, if any: of the key, budget or network, or a signal to stop. */
export async function sendRows(rows: readonly ReadyRow[], sending: SendRequest): Promise<unknown> {
  let unsettled = 0
  for (const ready of rows) {
    const earlier = sending.outcomes.last(ready.hash)
    const settled = settledBefore(ready, earlier?.outcome, sending)
    if (settled) {
      const { id, reference } = earlier ?? {}
      sending.onResult({ ...settled, ...(id && { id }), ...(reference && { reference }) })
      continue
    }
    const sent = await sendRow(ready, sending, earlier?.outcome)
    sending.onResult(sent.result)
    unsettled = sent.result.outcome === 'unsettled' ? unsettled + 1 : 0
    if (sent.failure !== undefined) return sent.failure
    if (unsettled === maxUnsettled) {
      return new MusterError({
        what: `${maxUnsettled} rows in a row got no usable answer`,
        next: 'the other rows were not sent; check the service, then run the command again',
      })
    }
  }
  return undefined
}

/** The result of a row that is not sent again: sent by an earlier run, or repeating it would add documents twice. */
function settledBefore(
  { row, label, addsDocuments }: ReadyRow,
  earlier: WriteOutcome | undefined,
  { target }: SendRequest,
): RowResult | undefined {
  if (earlier === 'created' || earlier === 'updated') return { row, worker: label, outcome: 'done before' }
  const isOpen = earlier === 'sending' || earlier === 'unsettled'
  if (!isOpen || target.operation === 'create' || !addsDocuments) return undefined
  const note =
    'an earlier run may have added its documents: check the worker, then remove its lines from the outcome file'
  return { row, worker: label, outcome: 'unsettled', note }
}

interface SendAttempt {
  readonly result: RowResult
  readonly failure?: unknown
}

async function sendRow(
  ready: ReadyRow,
  sending: SendRequest,
  earlier: WriteOutcome | undefined,
): Promise<SendAttempt> {
  const { row, label: worker, hash } = ready
  const note = (outcome: WriteOutcome, more: object = {}) =>
    sending.outcomes.add({
      hash,
      row,
      worker,
      outcome,
      ...more,
      at: new Date(sending.clock.now()).toISOString(),
    })
  const built = buildBody(ready.read(), sending.target)
  if ('problems' in built || built.hash !== hash) {
    return {
      result: { row, worker, outcome: 'refused', note: 'one of its files has changed since it was checked' },
    }
  }
  note('sending')
  try {
    const { id, reference } = await send(built.body, sending)
    const outcome = sending.target.operation === 'create' ? 'created' : 'updated'
    note(outcome, { id, reference })
    return { result: { row, worker, outcome, id, reference } }
  } catch (error) {
    const failed = sending.signal.aborted ? undefined : failedAs(error)
    if (!failed)
      return {
        result: { row, worker, outcome: 'unsettled', note: 'stopped before the answer' },
        failure: error,
      }
    note(failed.outcome, error instanceof Conflict ? { code: error.code } : {})
    const wasOpen = earlier === 'sending' || earlier === 'unsettled'
    const why =
      failed.outcome === 'review' && wasOpen ? 'an earlier run may have created it' : reasonOf(error)
    return {
      result: { row, worker, outcome: failed.outcome, note: why },
      ...(failed.endsRun && { failure: error }),
    }
  }
}

/** The service's message if it sent one; without the request, which is the same for every row. */
function reasonOf(error: unknown): string {
  if (error instanceof Conflict && error.needsReview) return ''
  if (error instanceof BadRequest || error instanceof Conflict)
    return error.serverMessage ?? error.report.what
  return error instanceof Error ? error.message : ''
}

function send({ id, fields }: WorkerBody, { client, target }: SendRequest): Promise<WorkerResult> {
  const { agency } = target
  if (target.operation === 'create') return createWorker(client, fields as NewWorker, { agency })
  return updateWorker(client, { id, changes: fields as ChangedWorker }, { agency })
}

/** Undefined for a signal to stop and for bugs: the row stays open. */
function failedAs(error: unknown): { readonly outcome: WriteOutcome; readonly endsRun: boolean } | undefined {
  if (error instanceof Conflict) return { outcome: error.needsReview ? 'review' : 'conflict', endsRun: false }
  if (error instanceof BadRequest || error instanceof NotFound) return { outcome: 'refused', endsRun: false }
  if (error instanceof WriteUnsettled) return { outcome: 'unsettled', endsRun: false }
  if (error instanceof AccessDenied) return { outcome: 'refused', endsRun: true }
  // The key was refused, the budget is spent, or the service is unreachable: nothing was written.
  return error instanceof MusterError ? { outcome: 'unsent', endsRun: true } : undefined
}
