/** Runs ad hoc queries in a PostgreSQL session that is read-only and bounded. */
import pTimeout from 'p-timeout'
import type pg from 'pg'
import { MusterError, UsageError } from '../../../lib/errors.ts'
import {
  CutRows,
  type QueryBounds,
  type QueryResult,
  type QuerySession,
  shortened,
  TooLong,
  unbuiltMart,
} from '../../query.ts'
import { withPrefix } from '../../schema/schemas.ts'
import { statementError } from '../failure.ts'
import { isNumericType } from '../plain-values.ts'
import { type Address, openSession, type Session } from '../session.ts'
import { judged } from './judge.ts'
import { largestArrival } from './largest-arrival.ts'

/** The extended protocol takes a single statement, so nothing can be appended to it. */
function once(client: pg.Client, text: string): Promise<pg.QueryArrayResult<unknown[]>> {
  const config = { text, rowMode: 'array', queryMode: 'extended' } as const
  return client.query<unknown[]>(config as unknown as pg.QueryArrayConfig)
}

/** Repeated names get a number, because a row object has each name once. */
function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map(name => {
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count === 0 ? name : `${name}:${count}`
  })
}

/** Whether further rows are wanted. */
function addRows(taken: CutRows, { fields, rows }: pg.QueryArrayResult<unknown[]>): boolean {
  const names = distinctNames(fields.map(({ name }) => name))
  return rows.every(values =>
    taken.add(Object.fromEntries(values.map((value, index) => [names[index] ?? '', value]))),
  )
}

function resultOf(taken: CutRows, fields: readonly pg.FieldDef[]): QueryResult {
  const names = distinctNames(fields.map(({ name }) => name))
  const columns = fields.map(({ dataTypeID }, index) => ({
    name: names[index] ?? '',
    isNumeric: isNumericType(dataTypeID),
  }))
  return { columns, rows: taken.rows, cut: taken.cut }
}

/** Rows of the cursor, few at first: how large they are is known only when they have arrived. */
async function fetched(client: pg.Client, taken: CutRows): Promise<QueryResult> {
  const mostBytes = taken.bytesLeft
  let fields: readonly pg.FieldDef[] = []
  for (let count = 1; ; count *= 4) {
    const before = taken.bytesLeft
    const arrival = await largestArrival(client, mostBytes, () =>
      once(client, `fetch ${count} from muster_query`),
    )
    if (arrival === 'too large') taken.cut = 'bytes'
    else fields = arrival.fields
    const isWanted = arrival !== 'too large' && addRows(taken, arrival)
    if (arrival === 'too large' || !isWanted || arrival.rows.length < count) return resultOf(taken, fields)
    const rowBytes = Math.max(1, (before - taken.bytesLeft) / count)
    count = Math.max(1, Math.min(count, Math.floor(taken.bytesLeft / rowBytes / 4)))
  }
}

/** A cursor takes nothing but a query, and rows beyond the limit are never computed. */
async function read(client: pg.Client, { sql, prefix }: Asked, taken: CutRows): Promise<QueryResult> {
  const { select, tells } = await judged(client, sql)
  await client.query('begin read only')
  try {
    if (select !== undefined)
      await once(client, `declare muster_query no scroll cursor for ${withPrefix(select, prefix)}`)
    if (tells === undefined) return await fetched(client, taken)
    const told = await once(client, withPrefix(tells, prefix))
    addRows(taken, told)
    return resultOf(taken, told.fields)
  } finally {
    // On a lost connection there is nothing to roll back; the query itself has failed with the reason.
    await client.query('rollback').catch(() => undefined)
  }
}

interface Asked {
  readonly sql: string
  readonly prefix: string
}

interface Place {
  readonly address: Address
  readonly session: Session
  readonly bounds: QueryBounds
  readonly prefix: string
}

function queryError({ address, prefix, bounds }: Place, error: unknown): unknown {
  if (error instanceof MusterError || !(error instanceof Error)) return error
  const { code } = error as { code?: string }
  if (code === '57014') return new TooLong(bounds)
  if (code === '25006')
    return new UsageError({ what: error.message, next: 'muster sql only reads', cause: error })
  const known = statementError(address.shown, error)
  if (known instanceof MusterError) return known
  const [, schema, name = ''] = /^relation "(\w+)\.(\w+)" does not exist$/.exec(error.message) ?? []
  const unbuilt = schema === `${prefix}mart` ? unbuiltMart(name) : undefined
  if (unbuilt) return unbuilt
  return new MusterError({ what: shortened(error.message), cause: error })
}

/** A query may end its own time limit for the rows after the first; the deadline of this process holds all the same. */
const graceMs = 1000

async function withinTime(place: Place, stop: AbortSignal | undefined, reading: Promise<QueryResult>) {
  const milliseconds = place.bounds.seconds * 1000 + graceMs
  try {
    return await pTimeout(reading, { milliseconds, message: false, ...(stop && { signal: stop }) })
  } catch (error) {
    if (stop?.aborted) await endBackend(place)
    throw error
  }
}

/** Ends the query on the server, which would notice only at its next row that nobody reads. */
async function endBackend({ address, session }: Place): Promise<void> {
  const { processID } = (await session.client()) as pg.Client & { processID: number }
  const beside = openSession(address, [])
  try {
    await (await beside.client()).query('select pg_catalog.pg_terminate_backend($1)', [processID])
  } catch {
    // No connection is left for this: the server ends the statement by its own limit.
  } finally {
    await beside.close()
  }
}

async function query(
  place: Place,
  sql: string,
  { limit, stop }: { limit: number; stop?: AbortSignal | undefined },
) {
  const { session, bounds, prefix } = place
  try {
    stop?.throwIfAborted()
    const reading = read(await session.client(), { sql, prefix }, new CutRows(limit, bounds))
    const result = await withinTime(place, stop, reading)
    if (result) return result
    await endBackend(place)
    throw new TooLong(bounds)
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

/** Files that one query may fill on the server. Only a superuser, or a role with a grant for it, may set this. */
async function limitFiles(client: pg.Client, { memoryMegabytes }: QueryBounds): Promise<void> {
  try {
    await client.query(`set temp_file_limit = '${memoryMegabytes}MB'`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
  }
}

/** Schemas may be written without the prefix of the connection. Throws MusterError when the server cannot be reached. */
export async function openPostgresQuery(
  address: Address,
  { bounds, prefix = '' }: { readonly bounds: QueryBounds; readonly prefix?: string | undefined },
): Promise<QuerySession> {
  const session = openSession(address, settingsFor(bounds))
  await limitFiles(await session.client(), bounds)
  const place = { address, session, bounds, prefix }
  return {
    query: (sql, limit, stop) => query(place, sql, { limit, stop }),
    close: () => session.close(),
  }
}
