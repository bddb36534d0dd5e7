/** One page of a list, with the total of the whole. */
import type { StoredRecord } from '../records/record.ts'
import { selectFields } from '../records/select-fields.ts'
import { closed, type NamedSchema, whole } from './json-schema.ts'

export const pageMeta: NamedSchema = {
  name: 'PageMeta',
  schema: closed({ page: whole, limit: whole, total: whole }),
}

interface PageQuery {
  readonly page: number
  readonly limit: number
  readonly fields?: readonly string[] | undefined
}

/** Rows are presented only when they are on the page. */
export function pageOf<Row>(
  rows: readonly Row[],
  { page, limit, fields }: PageQuery,
  present: (row: Row) => StoredRecord,
) {
  const data = rows.slice((page - 1) * limit, page * limit).map(present)
  return {
    data: fields ? data.map(record => selectFields(record, fields)) : data,
    meta: { page, limit, total: rows.length },
  }
}
