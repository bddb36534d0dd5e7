/** Searches for personal data in the warehouse as it would be published, the published copy, the lake, and exports without pii. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { asPattern } from '../../lib/input-file.ts'
import { type Hit, searchPublished } from '../../privacy/audit.ts'
import { type PiiValues, readPiiValues } from '../../privacy/pii-values.ts'
import { isForReaders, type ListedOutput, outputsOf } from '../../publish/outputs.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { duckdbFile, stemOf } from '../connection/storage.ts'
import { openMade } from '../connection/warehouse.ts'
import { searchLake } from '../lake.ts'
import type { RuntimeContext } from '../runtime-context.ts'

export interface Audit {
  readonly hits: readonly Hit[]
  /** Distinct values searched for. */
  readonly values: number
  readonly columns: number
  readonly cells: number
  readonly searched: readonly string[]
  readonly leftOut: PiiValues['leftOut']
}

type PersonalValues = Pick<PiiValues, 'has'>

type CopySearchResult = Awaited<ReturnType<typeof searchPublished>>

async function searchCopy(file: string, values: PersonalValues): Promise<CopySearchResult> {
  const engine = await openDuckdb(file, { readOnly: true })
  try {
    return await searchPublished(engine, values)
  } finally {
    await engine.close()
  }
}

/** Creates views of an export's files in an empty DuckDB, so that they can be searched as tables. */
async function searchExport(
  engine: Engine,
  folder: string,
  values: PersonalValues,
): Promise<CopySearchResult> {
  const { stage } = engine
  const files = await stage.rows<{ file: string }>(
    `select file from glob(${quoteText(join(folder, '**', '*.parquet'))}) order by 1`,
  )
  const tables = new Map<string, string[]>()
  for (const { file } of files) {
    const [schema = '', name = ''] = file.slice(folder.length + 1).split('/')
    const table = `${schema}.${name.replace(/\.parquet$/, '')}`
    tables.set(table, [...(tables.get(table) ?? []), file])
  }
  const found: CopySearchResult[] = []
  for (const [table, list] of tables) found.push(await searchFiles(engine, { folder, table, list }, values))
  return summed(found)
}

async function searchFiles(
  { stage }: Engine,
  { folder, table, list }: { folder: string; table: string; list: readonly string[] },
  values: PersonalValues,
): Promise<CopySearchResult> {
  const from = `read_parquet([${list.map(file => quoteText(asPattern(file))).join(', ')}], union_by_name = true, hive_partitioning = false)`
  const columns = await stage.rows<{ name: string; type: string }>(
    `select column_name as name, column_type as type from (describe select * from ${from})`,
  )
  const described = columns.map(({ name, type }) => ({
    schema: 'star',
    table: 'exported',
    tableComment: null,
    column: name,
    type,
    comment: null,
  }))
  const reader: Engine = {
    ...stage,
    location: folder,
    describedColumns: async () => described,
    rows: sql => stage.rows(sql.replace(`star.${quoteName('exported')}`, () => from)),
  }
  const result = await searchPublished(reader, values)
  const named = result.hits.map(hit => ({ ...hit, column: hit.column.replace('star.exported', () => table) }))
  return { ...result, hits: named }
}

export const searchOutput = (
  engine: Engine,
  { place, made }: Pick<ListedOutput, 'place' | 'made'>,
  values: PersonalValues,
): Promise<CopySearchResult> =>
  made === 'company' ? searchCopy(place, values) : searchExport(engine, place, values)

/** Searches the lake without personal data; undefined where nothing was published to one. */
export async function searchLakeFiles(
  engine: Engine,
  {
    connection,
    context,
  }: { connection: StoredConnection; context: Pick<RuntimeContext, 'clock' | 'signal'> },
  values: PersonalValues,
): Promise<(CopySearchResult & { readonly place: string }) | undefined> {
  const found: CopySearchResult[] = []
  let place: string | undefined
  await searchLake(connection, { stage: engine.stage, context }, async (folder, table, list) => {
    place = folder
    found.push(await searchFiles(engine, { folder, table, list }, values))
  })
  return place === undefined ? undefined : { ...summed(found), place }
}

const summed = (found: readonly CopySearchResult[]): CopySearchResult => ({
  hits: found.flatMap(({ hits }) => hits),
  columns: found.reduce((sum, { columns }) => sum + columns, 0),
  cells: found.reduce((sum, { cells }) => sum + cells, 0),
})

export async function auditPii(
  connection: StoredConnection,
  context: Pick<RuntimeContext, 'clock' | 'signal'>,
): Promise<Audit> {
  const engine = await openMade(connection)
  try {
    const values = await readPiiValues(engine)
    const file = duckdbFile(connection)
    const copy = file === undefined ? undefined : publishedFile(file)
    const results = [await searchPublished(engine, values)]
    const searched: string[] = []
    searched.push(engine.location)
    if (copy !== undefined && existsSync(copy)) {
      results.push(await searchCopy(copy, values))
      searched.push(copy)
    }
    for (const output of outputsOf(stemOf(connection))) {
      if (!isForReaders(output)) continue
      results.push(await searchOutput(engine, output, values))
      searched.push(output.place)
    }
    const lake = await searchLakeFiles(engine, { connection, context }, values)
    if (lake) {
      results.push(lake)
      searched.push(lake.place)
    }
    return {
      ...summed(results),
      values: values.count,
      searched,
      leftOut: values.leftOut,
    }
  } finally {
    await engine.close()
  }
}
