/**
 * Offers the reads of the contract as methods: `reads(client).listTimesheets({ status: 'approved', from: '2026-01-01' })`,
 * `reads(client).readTrade(id, { includeRates: true })`. Their parameters and results are declared in
 * `src/contract/operations.ts`; `/me` is `client.getMe()`, the writes are in `src/api/workers.ts` and `src/api/uploads.ts`.
 *
 * All reject with the errors of every call: BadRequest (400, or a mistake found before sending),
 * KeyRefused (401), AccessDenied (403, 451), NotFound (404), RetriableError (429, 5xx, the network or a bad answer, after
 * retries), BudgetSpent, or the abort reason.
 */
import type { GivenParameters, Kinds, Operation, RecordHolder } from '../../contract/fields/operation.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { operations } from '../../contract/operations.ts'
import type { CallOptions, Client, FetchedPage, FetchedRecord } from './client.ts'
import { BadRequest } from './errors.ts'
import type { RequestQuery } from './redact.ts'

/** `page` counts from 1; `limit` is 1 to 200, and 200 by default. */
export interface TypedPage<Row> extends FetchedPage {
  records(): Row[]
}

export interface TypedRecord<Row> extends FetchedRecord {
  readonly record: Row & FetchedRecord['record']
}

type ReadAnswer<Op extends Operation> =
  Op['of'] extends RecordHolder<infer Row>
    ? Op['answers'] extends 'page'
      ? TypedPage<Row>
      : TypedRecord<Row>
    : never

type ReadMethod<Op extends Operation> = Op['path'] extends `${string}{id}${string}`
  ? (
      id: string,
      parameters?: GivenParameters<Op['parameters']>,
      options?: CallOptions,
    ) => Promise<ReadAnswer<Op>>
  : (parameters?: GivenParameters<Op['parameters']>, options?: CallOptions) => Promise<ReadAnswer<Op>>

export type ReadMethods = {
  readonly [Name in keyof typeof operations]: ReadMethod<(typeof operations)[Name]>
}

export function reads(client: Client): ReadMethods {
  const methods = Object.entries(operations).map(([name, operation]) => [name, method(client, operation)])
  return Object.fromEntries(methods) as ReadMethods
}

function method(client: Client, operation: Operation) {
  const ask = (path: string, given: GivenParameters<Kinds> = {}, options?: CallOptions) => {
    const query = { ...queryOf(path, given), ...operation.fixed }
    return operation.answers === 'page'
      ? client.getPage(path, query, options)
      : client.getRecord(path, query, options)
  }
  if (!operation.path.includes('{id}')) {
    return async (given?: GivenParameters<Kinds>, options?: CallOptions) =>
      ask(operation.path, given, options)
  }
  return async (id: string, given?: GivenParameters<Kinds>, options?: CallOptions) =>
    ask(pathOf(operation.path, id), given, options)
}

/** Accepts only ids: any other text could reach another resource. */
function pathOf(path: string, id: string): string {
  if (isSafeId(id)) return path.replace('{id}', () => id)
  throw new BadRequest({ request: `GET ${path}` }, `${JSON.stringify(id.slice(0, 100))} is not an id`)
}

function queryOf(path: string, given: GivenParameters<Kinds>): RequestQuery {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (value === undefined) return []
      // The service ignores an empty parameter and would answer with everything.
      if (Array.isArray(value) && value.length === 0)
        throw new BadRequest({ request: `GET ${path}` }, `${name} is an empty list`)
      return [[name, Array.isArray(value) ? value.join(',') : (value as string | number | boolean)]]
    }),
  )
}
