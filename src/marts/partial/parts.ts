/** The parts of a mart, which its header declares: rows with the same values in some columns of its key. */
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { sqlFiles } from '../../warehouse/sql-files.ts'
import { readHeader } from '../header.ts'
import type { Mart } from '../mart.ts'

export interface Parts {
  /** Columns of the key. */
  readonly columns: readonly string[]
  /** Query of the parts that may differ: of changed records, as they are and as they were, and of the day. */
  readonly touched: string
  /** Resources whose changed records that query reads, as `:changed(timesheets)`. */
  readonly resources: ReadonlySet<string>
  /** Query of a value on which every part depends. */
  readonly basis?: string
}

const changed = /(?<!:):changed\(([\w-]+)\)/g

export const fillChanged = (sql: string, records: (resource: string) => string): string =>
  sql.replace(changed, (_, resource: string) => records(resource))

let written: ReadonlyMap<string, string> | undefined

function queryOf(folder: 'mart-part' | 'part', name: string): string | undefined {
  written ??= new Map(
    ['mart-part', 'part'].flatMap(one =>
      sqlFiles(one).map(({ name, text }) => [name, readHeader(text).body] as const),
    ),
  )
  return written.get(`${folder}/${name}.sql`)
}

/** Undefined for a mart without parts. Throws an Error for parts that could not be made by themselves. */
export function partsOf(mart: Pick<Mart, 'name' | 'fields' | 'columns'>): Parts | undefined {
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
  const part = mart.fields.get('Basis')
  const basis = part === undefined ? undefined : queryOf('part', part)
  if (part !== undefined && basis === undefined) throw wrong(`"Basis: ${part}" names no file of sql/part`)
  const resources = new Set([...touched.matchAll(changed)].map(([, resource]) => resource ?? ''))
  return { columns, touched, resources, ...(basis !== undefined && { basis }) }
}

/** Tables that the query of touched parts reads, beside the changed records. */
export const tablesOfTouched = ({ touched }: Parts): readonly string[] => tablesNamed(touched)
