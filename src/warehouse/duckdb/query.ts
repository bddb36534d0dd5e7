/** Runs ad hoc queries in a DuckDB that can neither write nor read any other file. */
import { type DuckDBConnection, DuckDBInstance, DuckDBTypeId, StatementType } from '@duckdb/node-api'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { bareQuery, type QueryResult, type QuerySession, unbuiltMart } from '../query.ts'
import { tablesNamed } from '../schema/schemas.ts'
import { isPublishedFile } from './database-file.ts'
import { openError } from './failure.ts'
import { plainRow } from './plain-row.ts'

const beginnings =
  /^(select|with|from|values|table|describe|desc|show|summarize|pragma|explain|pivot|unpivot)\b|^\(/i

/** A statement that fails while it is prepared never gets a type, so the first word is checked as well. */
function requireQuery(sql: string): void {
  const bare = bareQuery(sql)
  if (bare === '')
    throw new UsageError({ what: 'the query is empty', next: 'try muster sql "show all tables"' })
  if (!beginnings.test(bare)) throw notAQuery(bare.split(/\s/)[0] ?? '')
}

function notAQuery(word: string): UsageError {
  return new UsageError({
    what: `${word.toUpperCase()} is not a query`,
    next: 'muster sql only reads: begin with select, with, from, describe, summarize or show',
  })
}

interface Asked {
  readonly sql: string
  readonly file: string
}

/** The error for the first mart of the query that is declared but not in the file. */
async function missingMart(
  connection: DuckDBConnection,
  { sql, file }: Asked,
): Promise<MusterError | undefined> {
  const held = await connection.runAndReadAll(
    `select table_name from information_schema.tables where table_schema = 'mart'`,
  )
  const built = new Set(held.getRows().map(([name]) => `mart.${name}`))
  const next = isPublishedFile(file) ? 'run muster build, then muster publish' : 'run muster build'
  return tablesNamed(sql.toLowerCase())
    .filter(name => name.startsWith('mart.') && !built.has(name))
    .map(name => unbuiltMart(name.slice('mart.'.length), next))
    .find(error => error !== undefined)
}

/** The message without the excerpt of the query that DuckDB adds below it. */
async function queryError(connection: DuckDBConnection, error: unknown, asked: Asked): Promise<unknown> {
  if (error instanceof MusterError || !(error instanceof Error)) return error
  if (error.message.startsWith('Catalog Error: Table with name')) {
    const unbuilt = await missingMart(connection, asked)
    if (unbuilt) return unbuilt
  }
  const [words = ''] = error.message.replace('Failed to extract statements: ', '').split(/\n\s*\nLINE/)
  return new MusterError({ what: words.replace(/\s+/g, ' '), cause: error })
}

const readOnly: readonly StatementType[] = [StatementType.SELECT, StatementType.EXPLAIN]

const numeric: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
])

async function readRows(connection: DuckDBConnection, sql: string, limit: number): Promise<QueryResult> {
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1)
    throw new UsageError({
      what: `these are ${statements.count} statements`,
      next: 'give one query at a time',
    })
  const prepared = await statements.prepare(0)
  if (!readOnly.includes(prepared.statementType))
    throw notAQuery(StatementType[prepared.statementType] ?? 'this')
  // One row more than the limit shows whether the result was cut; the rest is never computed.
  const reader = await prepared.streamAndReadUntil(limit + 1)
  const names = reader.deduplicatedColumnNames()
  const rows = reader.getRows().map(values => {
    return plainRow(Object.fromEntries(values.map((value, index) => [names[index] ?? '', value])))
  })
  const columns = names.map((name, index) => ({ name, isNumeric: numeric.has(reader.columnTypeId(index)) }))
  return { columns, rows: rows.slice(0, limit), isCut: rows.length > limit }
}

/** Pause between two interrupts: one that comes before the query has begun has no effect. */
const AGAIN_MS = 50

/** Interrupts DuckDB from the moment `stop` aborts until the work has ended. */
async function interruptible<Result>(
  connection: DuckDBConnection,
  stop: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  stop?.throwIfAborted()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => {
    connection.interrupt()
    timer = setInterval(() => connection.interrupt(), AGAIN_MS)
  }
  stop?.addEventListener('abort', interrupt, { once: true })
  try {
    return await work()
  } finally {
    stop?.removeEventListener('abort', interrupt)
    clearInterval(timer)
  }
}

/** Opens the file read-only; no query can open it for writing or reach another file. */
export async function openQuery(file: string): Promise<QuerySession> {
  try {
    const instance = await DuckDBInstance.create(file, {
      access_mode: 'READ_ONLY',
      autoinstall_known_extensions: 'false',
    })
    const connection = await instance.connect()
    for (const setting of ["timezone = 'UTC'", 'enable_external_access = false', 'lock_configuration = true'])
      await connection.run(`set ${setting}`)
    return {
      async query(sql, limit, stop) {
        try {
          requireQuery(sql)
          return await interruptible(connection, stop, () => readRows(connection, sql, limit))
        } catch (error) {
          throw await queryError(connection, error, { sql, file })
        }
      },
      async close() {
        connection.closeSync()
        instance.closeSync()
      },
    }
  } catch (error) {
    throw openError(file, error)
  }
}
