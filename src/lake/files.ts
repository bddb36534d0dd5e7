/** Writes the rows of a part into a Parquet file, with its statistics, sums and checksum. */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { asPattern } from '../lib/input-file.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type AddedFile, connectionColumn } from './actions.ts'
import { type LakeColumn, storedValue } from './columns.ts'
import type { Part } from './cut.ts'
import type { LakeContext } from './log.ts'

/** A writer keeps one row group per thread in memory, and a wide fact has to fit. */
export const rowsPerGroup = 40_960

/** As many columns as Delta's own writers describe. */
const columnsWithBounds = 32

/** Columns that say when and by which run a row was loaded, not what it says. */
const bookkeeping = new Set(['loaded_at', 'first_loaded_at', 'as_of', 'run_id'])

/** Number and hashes of rows, which change when any value does. */
export function fingerprintSql(columns: readonly LakeColumn[]): string {
  const names = columns.filter(({ name }) => !bookkeeping.has(name)).map(({ name }) => quoteName(name))
  return `concat(count(*), '-', sum(hash(${names.join(', ') || '1'})))`
}

export const fingerprintTag = 'muster.fingerprint'
export const fromTag = 'muster.from'
export const untilTag = 'muster.until'
export const sumsTag = 'muster.sums'
export const shaTag = 'muster.sha256'

export interface FileRequest {
  readonly table: string
  readonly connection: string
  readonly columns: readonly LakeColumn[]
  /** SQL for the rows, in the stage. */
  readonly rows: string
  readonly part: Part
  readonly fingerprint: string
  /** Name in the folder of the connection; begins with the id of the run, which says when it was written. */
  readonly name: string
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const isDecimal = ({ type }: LakeColumn): boolean => type.startsWith('decimal')

interface FileFacts {
  readonly rows: string
  readonly stats: string
  readonly sums: string
}

/** Readers skip files by bounds. The log outlives its files, so bounds quote no text or date that could be of a person. */
function hasBounds({ name, type }: LakeColumn, table: string): boolean {
  if (type === 'string') return /(^|_)id$/.test(name)
  return !['boolean', 'double'].includes(type) && !table.startsWith('pii/')
}

/** Rounded outwards. */
function boundOf({ name, type }: LakeColumn, side: 'min' | 'max'): string {
  const value = `${side}(${quoteName(name)})`
  if (type === 'timestamp')
    return `strftime(date_trunc('millisecond', ${value}${side === 'max' ? ` + interval '999 microseconds'` : ''}), '%Y-%m-%dT%H:%M:%S.%gZ')`
  return type === 'date' ? `cast(${value} as varchar)` : value
}

function factsSql(columns: readonly LakeColumn[], table: string): string {
  const described = columns.slice(0, columnsWithBounds)
  const bounded = described.filter(column => hasBounds(column, table))
  const object = (pairs: readonly string[]): string => `json_object(${pairs.join(', ')})`
  const bounds = (side: 'min' | 'max'): string =>
    object(bounded.map(column => `${quoteText(column.name)}, ${boundOf(column, side)}`))
  const nulls = object(
    described.map(({ name }) => `${quoteText(name)}, count(*) - count(${quoteName(name)})`),
  )
  const sums = object(
    columns
      .filter(isDecimal)
      .map(({ name }) => `${quoteText(name)}, cast(coalesce(sum(${quoteName(name)}), 0) as varchar)`),
  )
  return `select cast(count(*) as varchar) as rows, cast(${sums} as varchar) as sums,
    cast(${object([`'numRecords', count(*)`, `'minValues', ${bounds('min')}`, `'maxValues', ${bounds('max')}`, `'nullCount', ${nulls}`])} as varchar) as stats`
}

/** Stores the file, and returns the action that adds it to the table. */
export async function writeFile(context: LakeContext, request: FileRequest): Promise<AddedFile> {
  const { store, stage, clock } = context
  const { table, connection, columns, rows, part, fingerprint, name } = request
  const file = join(store.scratch, name)
  const options = `format parquet, compression zstd, row_group_size ${rowsPerGroup}, field_ids 'auto'`
  await stage.run(
    `copy (select ${columns.map(storedValue).join(', ')} from (${rows})) to ${quoteText(file)} (${options})`,
  )
  const [facts] = await stage.rows<FileFacts>(
    `${factsSql(columns, table)} from read_parquet(${quoteText(asPattern(file))})`,
  )
  const folder = `${connectionColumn}=${connection}`
  const added: AddedFile = {
    path: `${folder}/${name}`,
    partitionValues: { [connectionColumn]: connection },
    size: statSync(file).size,
    modificationTime: clock.now(),
    dataChange: true,
    stats: facts?.stats ?? '{}',
    tags: {
      [fingerprintTag]: fingerprint,
      [shaTag]: await sha256Of(file),
      [sumsTag]: facts?.sums ?? '{}',
      ...(part.from !== undefined && { [fromTag]: part.from }),
      ...(part.until !== undefined && { [untilTag]: part.until }),
    },
  }
  await store.upload(`${table}/${added.path}`, file)
  return added
}

export const rowsIn = ({ stats }: AddedFile): number =>
  Number((JSON.parse(stats ?? '{}') as { numRecords?: number }).numRecords ?? 0)
