/**
 * The reads of the contract as methods: `reads(client).listTimesheets({ status: 'approved', from: '2026-01-01' })`,
 * `reads(client).readTrade(id, { includeRates: true })`. What each one takes and gives is declared in
 * `src/resources/operations.ts`; `/me` is `client.getMe()`, the writes are in `workers.ts` and `uploads.ts`.
 *
 * All reject with what every call rejects with: BadRequest (400, or a mistake that is seen before anything is sent),
 * KeyRefused (401), AccessDenied (403, 451), NotFound (404), Retriable (429, 5xx, the network or a bad answer, after
 * retries), BudgetSpent, or the abort reason.
 */
import type { Given, Holding, Kinds, Operation } from '../../contract/fields/operation.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { operations } from '../../contract/operations.ts'
import type { CallOptions, Client, Fetched, Page } from './client.ts'
import { BadRequest } from './errors.ts'
import type { Query } from './redact.ts'

/** `page` counts from 1; `limit` is 1 to 200, which is also what is sent when it is left out. */
export interface PageOf<Row> extends Page {
  records(): Row[]
}

export interface RecordOf<Row> extends Fetched {
  readonly record: Row & Fetched['record']
}

type Answer<Op extends Operation> =
  Op['of'] extends Holding<infer Row> ? (Op['answers'] extends 'page' ? PageOf<Row> : RecordOf<Row>) : never

type Method<Op extends Operation> = Op['path'] extends `${string}{id}${string}`
  ? (id: string, parameters?: Given<Op['parameters']>, options?: CallOptions) => Promise<Answer<Op>>
  : (parameters?: Given<Op['parameters']>, options?: CallOptions) => Promise<Answer<Op>>

export type Reads = { readonly [Name in keyof typeof operations]: Method<(typeof operations)[Name]> }

export function reads(client: Client): Reads {
  const methods = Object.entries(operations).map(([name, operation]) => [name, method(client, operation)])
  return Object.fromEntries(methods) as Reads
}

function method(client: Client, operation: Operation) {
  const ask = (path: string, given: Given<Kinds> = {}, options?: CallOptions) => {
    const query = { ...queryOf(path, given), ...operation.fixed }
    return operation.answers === 'page'
      ? client.getPage(path, query, options)
      : client.getRecord(path, query, options)
  }
  if (!operation.path.includes('{id}')) {
    return async (given?: Given<Kinds>, options?: CallOptions) => ask(operation.path, given, options)
  }
  return async (id: string, given?: Given<Kinds>, options?: CallOptions) =>
    ask(pathOf(operation.path, id), given, options)
}

/** Anything else than an id could reach another resource. */
function pathOf(path: string, id: string): string {
  if (isSafeId(id)) return path.replace('{id}', () => id)
  throw new BadRequest({ request: `GET ${path}` }, `${JSON.stringify(id.slice(0, 100))} is not an id`)
}

function queryOf(path: string, given: Given<Kinds>): Query {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (value === undefined) return []
      // To the service an empty parameter is none: it would answer with everything.
      if (Array.isArray(value) && value.length === 0)
        throw new BadRequest({ request: `GET ${path}` }, `${name} is an empty list`)
      return [[name, Array.isArray(value) ? value.join(',') : (value as string | number | boolean)]]
    }),
  )
}
