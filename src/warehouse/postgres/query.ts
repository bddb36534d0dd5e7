/** Runs ad hoc queries in a PostgreSQL session that is read-only and has a time limit. */
import pTimeout from 'p-timeout'
import type pg from 'pg'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { bareQuery, type QueryResult, type QuerySession, unbuiltMart } from '../query.ts'
import { withPrefix } from '../schema/schemas.ts'
import { statementError } from './failure.ts'
import { isNumericType } from './plain-values.ts'
import { type Address, openSession } from './session.ts'

const selecting = /^(select|with|values|table)\b|^\(/i
const telling = /^(show|explain)\b/i

/** A query that never ends keeps the server from vacuuming; longer ones belong in a client of their own. */
const longestSeconds = 600

function requireQuery(bare: string): void {
  if (bare === '')
    throw new UsageError({
      what: 'the query is empty',
      next: 'try muster sql "select count(*) from star.dim_company"',
    })
  if (selecting.test(bare) || telling.test(bare)) return
  throw new UsageError({
    what: `${(bare.split(/\s/)[0] ?? '').toUpperCase()} is not a query`,
    next: 'muster sql only reads: begin with select, with, values, table, show or explain',
  })
}

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

function resultOf({ fields, rows }: pg.QueryArrayResult<unknown[]>, limit: number): QueryResult {
  const names = distinctNames(fields.map(({ name }) => name))
  return {
    columns: fields.map(({ dataTypeID }, index) => ({
      name: names[index] ?? '',
      isNumeric: isNumericType(dataTypeID),
    })),
    rows: rows
      .slice(0, limit)
      .map(values => Object.fromEntries(values.map((value, index) => [names[index] ?? '', value]))),
    isCut: rows.length > limit,
  }
}

/** A cursor, so that rows beyond the limit are never computed. */
async function read(client: pg.Client, sql: string, limit: number): Promise<QueryResult> {
  await client.query('begin read only')
  try {
    if (telling.test(sql)) return resultOf(await once(client, sql), limit)
    await once(client, `declare muster_query no scroll cursor for ${sql}`)
    return resultOf(await once(client, `fetch ${limit + 1} from muster_query`), limit)
  } finally {
    // On a lost connection there is nothing to roll back; the query itself has failed with the reason.
    await client.query('rollback').catch(() => undefined)
  }
}

function queryError(location: string, error: unknown, prefix: string): unknown {
  const known = statementError(location, error)
  if (known instanceof MusterError || !(error instanceof Error)) return known
  const [, schema, name = ''] = /^relation "(\w+)\.(\w+)" does not exist$/.exec(error.message) ?? []
  const unbuilt = schema === `${prefix}mart` ? unbuiltMart(name) : undefined
  if (unbuilt) return unbuilt
  return new MusterError({ what: error.message.replace(/\s+/g, ' '), cause: error })
}

/** Schemas may be written without the prefix of the connection. Throws MusterError when the server cannot be reached. */
export async function openPostgresQuery(
  address: Address,
  prefix = '',
  seconds = longestSeconds,
): Promise<QuerySession> {
  const session = openSession(address, [
    'set default_transaction_read_only = on',
    `set statement_timeout = '${seconds}s'`,
  ])
  await session.client()
  return {
    async query(sql, limit, stop) {
      const bare = bareQuery(sql)
      requireQuery(bare)
      try {
        const reading = read(await session.client(), withPrefix(bare, prefix), limit)
        // The caller closes the session when it stops; the server ends the query by its own limit at the latest.
        return await (stop ? pTimeout(reading, { milliseconds: Infinity, signal: stop }) : reading)
      } catch (error) {
        throw queryError(address.shown, error, prefix)
      }
    },
    close: () => session.close(),
  }
}
