/** Runs ad hoc queries in a PostgreSQL session that is read-only and has limits. */
import type { Socket } from 'node:net'
import pTimeout, { TimeoutError } from 'p-timeout'
import type pg from 'pg'
import { MusterError, UsageError } from '../../lib/errors.ts'
import {
  type Cuts,
  firstOf,
  inPieces,
  type QueryBounds,
  type QueryResult,
  type QuerySession,
  QueryTooLong,
  type ResultColumn,
  type RowSource,
  RowsTooLarge,
  results,
  shortened,
  unbuiltMart,
  uncutAnswer,
} from '../query.ts'
import { withPrefix } from '../schema/schemas.ts'
import { ColumnTypes, isNameless } from './ad-hoc-columns.ts'
import { judged } from './ad-hoc-judge.ts'
import { statementError } from './failure.ts'
import { isNumericType, takingType } from './plain-values.ts'
import { openSession, type PostgresAddress, type PostgresSession } from './session.ts'

/**
 * Returns the result of `ask` and its bytes. Throws RowsTooLarge once more than `maxBytes` have arrived, and closes the
 * connection.
 */
async function largestArrival<Result>(
  client: pg.Client,
  maxBytes: number,
  ask: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly bytes: number }> {
  const { stream } = (client as pg.Client & { connection: { stream: Socket } }).connection
  let bytes = 0
  const count = (data: Buffer): void => {
    bytes += data.length
    if (bytes > maxBytes) stream.destroy()
  }
  stream.on('data', count)
  try {
    return { result: await ask(), bytes }
  } catch (error) {
    if (bytes > maxBytes) throw new RowsTooLarge()
    throw error
  } finally {
    stream.off('data', count)
  }
}

/** Uses the extended protocol, which accepts a single statement, so nothing can be appended. */
function once(client: pg.Client, text: string, types?: ColumnTypes): Promise<pg.QueryArrayResult<unknown[]>> {
  const config = { text, rowMode: 'array', queryMode: 'extended', ...(types && { types: types.config }) }
  return client.query<unknown[]>(config as unknown as pg.QueryArrayConfig)
}

/** Numbers repeated names, because a row object has each name once. */
function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map(name => {
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count === 0 ? name : `${name}:${count}`
  })
}

type RawAnswer = pg.QueryArrayResult<unknown[]>

const rowsOf = ({ rows }: RawAnswer, fields: readonly pg.FieldDef[]): Record<string, unknown>[] => {
  const names = distinctNames(fields.map(({ name }) => name))
  return rows.map(values => Object.fromEntries(values.map((value, index) => [names[index] ?? '', value])))
}

function columnsOf(fields: readonly pg.FieldDef[], types?: ColumnTypes): ResultColumn[] {
  const names = distinctNames(fields.map(({ name }) => name))
  return fields.map((field, index) => ({
    name: names[index] ?? '',
    isNumeric: isNumericType(field.dataTypeID),
    type: types?.taking(field) ?? takingType(field),
  }))
}

interface Cursor {
  readonly fields: readonly pg.FieldDef[]
  readonly types: ColumnTypes
}

const cursor = 'muster_query'

async function declare(client: pg.Client, select: string): Promise<readonly pg.FieldDef[]> {
  await once(client, `declare ${cursor} no scroll cursor for ${select}`)
  return (await once(client, `fetch 0 from ${cursor}`)).fields
}

/** The server converts rows without names and types to JSON. It has accepted the query by itself before it is wrapped. */
async function openCursor(client: pg.Client, select: string): Promise<Cursor> {
  const fields = await declare(client, select)
  if (!fields.some(isNameless)) return { fields, types: await ColumnTypes.of(client, fields) }
  await client.query(`close ${cursor}`)
  const places = fields.map((_, index) => `c${index}`)
  const values = fields.map((field, index) => (isNameless(field) ? `to_json(c${index})` : `c${index}`))
  const read = await declare(
    client,
    `select ${values.join(', ')} from (${select}\n) as asked(${places.join(', ')})`,
  )
  const named = read.map((field, index) => ({ ...field, name: fields[index]?.name ?? '' }))
  return { fields: named, types: await ColumnTypes.of(client, named) }
}

/** Target size of one fetch from the cursor. */
const fetchBytes = 1_048_576

/** Fetches rows from the cursor, few at first: their size is known only after they arrive. */
function cursorRows(
  client: pg.Client,
  { fields, types }: Cursor,
  { answerMegabytes }: QueryBounds,
): RowSource {
  async function* fetched() {
    for (let count = 1; ; ) {
      const fetch = (): Promise<RawAnswer> => once(client, `fetch ${count} from ${cursor}`, types)
      const { result, bytes } = await largestArrival(client, answerMegabytes * 1_048_576, fetch)
      yield rowsOf(result, fields)
      if (result.rows.length < count) return
      count = Math.max(1, Math.min(count * 4, Math.floor((fetchBytes * count) / bytes)))
    }
  }
  return { columns: () => columnsOf(fields, types), rows: fetched() }
}

async function* oneArrival(arrived: RawAnswer) {
  yield rowsOf(arrived, arrived.fields)
}

/** Uses a cursor, which accepts only a query; rows beyond the limit are never computed. */
async function* read(
  client: pg.Client,
  { sql, prefix, bounds }: ServerQuery,
  cuts: Cuts,
): AsyncGenerator<QueryResult> {
  const { select, reports } = await judged(client, sql)
  await client.query('begin read only; set local standard_conforming_strings = on')
  try {
    const opened = select === undefined ? undefined : await openCursor(client, withPrefix(select, prefix))
    if (opened && reports === undefined) return yield* results(cursorRows(client, opened, bounds), cuts)
    const report = await once(client, withPrefix(reports ?? '', prefix))
    yield* results({ columns: () => columnsOf(report.fields), rows: oneArrival(report) }, cuts)
  } finally {
    // On a lost connection there is nothing to roll back; the query has failed with that reason.
    await client.query('rollback').catch(() => undefined)
  }
}

interface ServerQuery {
  readonly sql: string
  readonly prefix: string
  readonly bounds: QueryBounds
}

interface QueryServer {
  readonly address: PostgresAddress
  readonly session: PostgresSession
  readonly bounds: QueryBounds
  readonly prefix: string
}

function queryError({ address, prefix, bounds }: QueryServer, error: unknown): unknown {
  if (error instanceof MusterError || !(error instanceof Error)) return error
  const { code } = error as { code?: string }
  if (code === '57014') return new QueryTooLong(bounds)
  if (code === '25006')
    return new UsageError({ what: error.message, next: 'muster sql only reads', cause: error })
  if (code === '08P01')
    return new UsageError({
      what: shortened(error.message),
      next: 'write values instead of parameters',
      cause: error,
    })
  const known = statementError(address.shown, error)
  if (known instanceof MusterError) return known
  const [, schema, name = ''] = /^relation "(\w+)\.(\w+)" does not exist$/.exec(error.message) ?? []
  const unbuilt = schema === `${prefix}mart` ? unbuiltMart(name) : undefined
  if (unbuilt) return unbuilt
  return new MusterError({ what: shortened(error.message), cause: error })
}

/** A query may lift its own time limit for the rows after the first; the deadline of this process still applies. */
const graceMs = 1000

async function withinTime<Result>(
  place: QueryServer,
  stop: AbortSignal | undefined,
  reading: Promise<Result>,
): Promise<Result> {
  const milliseconds = place.bounds.seconds * 1000 + graceMs
  try {
    return await pTimeout(reading, { milliseconds, ...(stop && { signal: stop }) })
  } catch (error) {
    if (!stop?.aborted && !(error instanceof TimeoutError)) throw error
    // The server would notice the closed connection only at its next row.
    await place.session.terminate()
    throw error instanceof TimeoutError ? new QueryTooLong(place.bounds) : error
  }
}

async function* answer(
  place: QueryServer,
  sql: string,
  { cuts, stop }: { cuts: Cuts; stop?: AbortSignal | undefined },
): AsyncGenerator<QueryResult> {
  const { session, prefix, bounds } = place
  try {
    stop?.throwIfAborted()
    const reading = read(await session.client(), { sql, prefix, bounds }, cuts)
    let isWaiting = false
    try {
      for (let next = await withinTime(place, stop, reading.next()); !next.done; ) {
        isWaiting = true
        yield next.value
        isWaiting = false
        next = await withinTime(place, stop, reading.next())
      }
    } finally {
      // The caller wants no more rows. After a failure or a stop there is nothing left to end.
      if (isWaiting) await reading.return(undefined)
    }
  } catch (error) {
    throw queryError(place, error)
  }
}

/** Megabytes of work_mem: one query sorts and hashes several times at once. */
const workShare = 16

const settingsFor = ({ seconds, memoryMegabytes, threads }: QueryBounds): string[] => [
  'set default_transaction_read_only = on',
  `set statement_timeout = '${seconds}s'`,
  `set lock_timeout = '${seconds}s'`,
  `set work_mem = '${Math.ceil(memoryMegabytes / workShare)}MB'`,
  `set max_parallel_workers_per_gather = ${threads - 1}`,
]

/** Limits temporary files of one query on the server. Only a superuser, or a role with a grant for it, may set this. */
async function limitFiles(client: pg.Client, { memoryMegabytes }: QueryBounds): Promise<void> {
  try {
    await client.query(`set temp_file_limit = '${memoryMegabytes}MB'`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
  }
}

/** Queries may omit the schema prefix of the connection. Throws MusterError if the server cannot be reached. */
export async function openPostgresQuery(
  address: PostgresAddress,
  { bounds, prefix = '' }: { readonly bounds: QueryBounds; readonly prefix?: string | undefined },
): Promise<QuerySession> {
  const session = openSession(address, settingsFor(bounds))
  await limitFiles(await session.client(), bounds)
  const place = { address, session, bounds, prefix }
  return {
    query: (sql, limit, stop) => firstOf(answer(place, sql, { cuts: uncutAnswer(limit, bounds), stop })),
    pieces: (sql, limit, stop) => answer(place, sql, { cuts: inPieces(limit, bounds), stop }),
    close: () => session.close(),
  }
}
