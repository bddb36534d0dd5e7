/** Runs ad hoc queries in a DuckDB that cannot write, and can read no other file. */
import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBResult,
  DuckDBTypeId,
  type DuckDBValue,
  StatementType,
} from '@duckdb/node-api'
import { MusterError } from '../../../lib/errors.ts'
import {
  type Cuts,
  firstOf,
  type QueryBounds,
  type QueryResult,
  type RowSource,
  results,
  shortened,
  unbuiltMart,
  uncutAnswer,
} from '../../query.ts'
import { tablesNamed } from '../../schema/schemas.ts'
import { isPublishedFile, realFile, requireOrdinary } from '../database-file.ts'
import { openError } from '../failure.ts'
import { judged } from './judge.ts'
import { plainOf, takingType } from './nested-values.ts'

interface FileQuery {
  readonly sql: string
  readonly file: string
}

/** The error for the first mart of the query that is declared but not in the file. */
async function missingMart(
  connection: DuckDBConnection,
  { sql, file }: FileQuery,
): Promise<MusterError | undefined> {
  const martTables = await connection.runAndReadAll(
    `select table_name from information_schema.tables where table_schema = 'mart'`,
  )
  const built = new Set(martTables.getRows().map(([name]) => `mart.${name}`))
  const next = isPublishedFile(file) ? 'run muster build, then muster publish' : 'run muster build'
  return tablesNamed(sql.toLowerCase())
    .filter(name => name.startsWith('mart.') && !built.has(name))
    .map(name => unbuiltMart(name.slice('mart.'.length), next))
    .find(error => error !== undefined)
}

/** Returns the message without DuckDB's excerpt of the query. */
async function queryError(connection: DuckDBConnection, error: unknown, asked: FileQuery): Promise<unknown> {
  if (error instanceof MusterError || !(error instanceof Error)) return error
  if (error.message.startsWith('Catalog Error: Table with name')) {
    const unbuilt = await missingMart(connection, asked)
    if (unbuilt) return unbuilt
  }
  if (error.message.startsWith('Out of Memory Error')) return tooMuch
  const [words = ''] = error.message.replace('Failed to extract statements: ', '').split(/\n\s*\nLINE/)
  return new MusterError({ what: shortened(words), cause: error })
}

/** Leaves out DuckDB's advice, which names settings that a query cannot change. */
const tooMuch = new MusterError({
  what: 'the query needs more memory than it may use',
  next: 'read fewer rows or columns, or raise queries.memoryMegabytes of the settings',
})

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

interface ColumnReader {
  readonly name: string
  readonly plain: (value: DuckDBValue) => unknown
}

/** Converts one row at a time: a chunk of 2,048 rows may be far larger than the result. */
function* rowsOf(
  columns: readonly ColumnReader[],
  chunk: DuckDBDataChunk,
): Generator<Record<string, unknown>> {
  for (let row = 0; row < chunk.rowCount; row += 1)
    yield Object.fromEntries(
      columns.map(({ name, plain }, index) => [name, plain(chunk.getColumnVector(index).getItem(row))]),
    )
}

async function* chunksOf(result: DuckDBResult, columns: readonly ColumnReader[]) {
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    yield rowsOf(columns, chunk)
  }
}

/** Rows that are not read are never computed. */
async function sourceOf(connection: DuckDBConnection, sql: string): Promise<RowSource> {
  const prepared = await connection.prepare(sql)
  const { statementType } = prepared
  if (statementType !== StatementType.SELECT && statementType !== StatementType.EXPLAIN)
    throw new Error(`a judged query is of type ${StatementType[statementType]}`)
  const result = await prepared.stream()
  const names = result.deduplicatedColumnNames()
  const columns = names.map((name, index) => ({
    name,
    isNumeric: numeric.has(result.columnTypeId(index)),
    type: takingType(result.columnType(index)),
    plain: plainOf(result.columnType(index)),
  }))
  return {
    columns: () => columns.map(({ name, isNumeric, type }) => ({ name, isNumeric, type })),
    rows: chunksOf(result, columns),
  }
}

export interface OpenFile {
  query(sql: string, limit: number): Promise<QueryResult>
  /** Throws the same errors as `query`. */
  results(sql: string, cuts: Cuts): AsyncGenerator<QueryResult>
  close(): void
}

/**
 * Turns off spilling to disk, as DuckDB lets queries read and write in its temporary folder. Leaves half of the memory for
 * what DuckDB does not count, such as vectors of long texts.
 */
const optionsFor = ({ memoryMegabytes, threads }: QueryBounds): Record<string, string> => ({
  memory_limit: `${Math.ceil(memoryMegabytes / 2)}MiB`,
  temp_directory: '',
  max_temp_directory_size: '0B',
  threads: String(threads),
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_persistent_secrets: 'false',
})

interface FileToQuery {
  readonly file: string
  readonly bounds: QueryBounds
}

/** Opens the file read-only; no query can open it for writing or reach another file. */
export async function openFile({ file, bounds }: FileToQuery): Promise<OpenFile> {
  try {
    const real = realFile(file)
    requireOrdinary(real)
    const instance = await DuckDBInstance.create(real, { ...optionsFor(bounds), access_mode: 'READ_ONLY' })
    const connection = await instance.connect()
    for (const setting of ["timezone = 'UTC'", 'enable_external_access = false', 'lock_configuration = true'])
      await connection.run(`set ${setting}`)
    const resultsOf: OpenFile['results'] = async function* (sql, cuts) {
      try {
        yield* results(await sourceOf(connection, await judged(connection, sql)), cuts)
      } catch (error) {
        throw await queryError(connection, error, { sql, file })
      }
    }
    return {
      query: (sql, limit) => firstOf(resultsOf(sql, uncutAnswer(limit, bounds))),
      results: resultsOf,
      close() {
        connection.closeSync()
        instance.closeSync()
      },
    }
  } catch (error) {
    throw error instanceof MusterError ? error : openError(file, error)
  }
}
