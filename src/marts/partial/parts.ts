/** The parts of a mart, which its header declares: rows with the same values in some columns of its key. */
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { sqlFiles } from '../../warehouse/sql-files.ts'
import { readHeader } from '../header.ts'

export interface Parts {
  /** Columns of the key. */
  readonly columns: readonly string[]
  /**
   * Query of the parts that may differ: of changed records, `:changed(timesheets)`, as they are and as they were, and of the day.
   */
  readonly touched: string
  /** Query of a value on which every part depends. */
  readonly basis?: string
}

interface Declared {
  /** Of the mart, without its schema. */
  readonly name: string
  readonly fields: ReadonlyMap<string, string>
  readonly columns: readonly { readonly name: string; readonly isKey: boolean }[]
}

const changed = /(?<!:):changed\(([\w-]+)\)/g

export const fillChanged = (sql: string, records: (resource: string) => string): string =>
  sql.replace(changed, (_, resource: string) => records(resource))

const written = new Map<string, ReadonlyMap<string, string>>()

function queryOf(folder: 'mart-part' | 'mart-basis', mart: string): string | undefined {
  const known =
    written.get(folder) ?? new Map(sqlFiles(folder).map(({ name, text }) => [name, readHeader(text).body]))
  written.set(folder, known)
  return known.get(`${folder}/${mart}.sql`)
}

/** Undefined for a mart without parts. Throws an Error for parts that could not be made by themselves. */
export function partsOf(mart: Declared): Parts | undefined {
  const line = mart.fields.get('Parts')
  if (line === undefined) return undefined
  const wrong = (what: string): Error => new Error(`sql/mart/${mart.name}.sql: ${what}`)
  const columns = line.split(',').map(name => name.trim())
  for (const name of columns)
    if (!mart.columns.some(column => column.name === name && column.isKey))
      throw wrong(`"Parts: ${line}" names ${name}, which is no column of its key`)
  const touched = queryOf('mart-part', mart.name)
  if (touched === undefined)
    throw wrong(`sql/mart-part/${mart.name}.sql has to tell which parts changes touch`)
  const basis = queryOf('mart-basis', mart.name)
  return { columns, touched, ...(basis !== undefined && { basis }) }
}

/** Resources whose changed records its query reads. */
export const resourcesOfTouched = ({ touched }: Parts): ReadonlySet<string> =>
  new Set([...touched.matchAll(changed)].map(([, resource]) => resource ?? ''))

/** Tables that the query of touched parts reads, beside the changed records. */
export const tablesOfTouched = ({ touched }: Parts): readonly string[] => tablesNamed(touched)
