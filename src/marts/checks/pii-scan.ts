/** The PII scan: searches every text column of star and of the marts for personal data, which must not be there. */
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { references } from '../../warehouse/schema/references.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import type { Mart } from '../mart.ts'
import type { Check, CheckPart } from './check.ts'

/** Each pattern means the same on PostgreSQL and DuckDB; a match has at least one character. */
const patterns = {
  'e-mail address': '[A-Za-z0-9._%+-]@[A-Za-z0-9-]+[.][A-Za-z]',
  'national insurance number':
    '(^|[^A-Za-z0-9])[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]($|[^A-Za-z0-9])',
  'sort code': '(^|[^0-9-])[0-9]{2}-[0-9]{2}-[0-9]{2}($|[^0-9-])',
  'telephone number': '(^|[^0-9A-Za-z.-])([+]44 ?|0)[1-378]( ?[0-9]){8,9}($|[^0-9A-Za-z])',
} as const

/** The engines spell matching differently, but replacing alike. */
const holds = (text: string, pattern: string): string =>
  `regexp_replace(${text}, ${quoteText(pattern)}, '') <> ${text}`

const anyPattern = Object.values(patterns)
  .map(pattern => `(${pattern})`)
  .join('|')

/** Columns that the program itself writes. */
const ownColumns = new Set(['row_hash', 'run_id', 'definition_id'])

interface ScannedTable {
  /** With its schema. */
  readonly table: string
  readonly keys: readonly string[]
  readonly texts: readonly string[]
}

/** Searches all texts of a row as one: most rows have no match, so one pass suffices for them. */
function scan({ table, keys, texts }: ScannedTable): CheckPart {
  const [schema = '', name = ''] = table.split('.')
  const columns = texts.map(column => `t.${quoteName(column)}`)
  const record = `concat_ws('|', ${keys.map(key => `t.${quoteName(key)}`).join(', ')})`
  const where = columns.map(
    (column, place) => `when ${holds(column, anyPattern)} then ${quoteText(texts[place] ?? '')}`,
  )
  const wordsQuery = `select distinct unnest(array[${columns.join(', ')}]) as words from ${schema}.${quoteName(name)} as t`
  const what = Object.entries(patterns).map(
    ([kind, pattern]) => `when ${holds('row_text.words', pattern)} then ${quoteText(kind)}`,
  )
  return {
    subject: table,
    reads: [table],
    // A match has no bar, so it lies within one text. Distinct texts, as ids and states repeat in thousands of rows.
    precondition: `exists (select 1 from (${wordsQuery}) as held where ${holds('held.words', anyPattern)})`,
    // A key that is itself an e-mail address must not appear in messages; its hash also identifies the row.
    select: `select case when ${holds('row_text.record', anyPattern)} then 'md5 ' || md5(row_text.record)
          else row_text.record end || ', ' || row_text.place as record, case ${what.join(' ')} end as kind
      from (
        select ${record} as record, concat_ws(' | ', ${columns.join(', ')}) as words,
          case ${where.join(' ')} else 'several columns' end as place
        from ${schema}.${quoteName(name)} as t
        where ${holds(`concat_ws(' | ', ${columns.join(', ')})`, anyPattern)}
      ) as row_text`,
  }
}

const next =
  'find the field it came from with muster sql, declare it personal, then run muster replay; do not publish until then'

/** References are scanned only as keys of their dimension, as they are most of the text of facts. */
const referring = new Set(references.map(({ table, column }) => `${table}.${column}`))

const starTables: readonly ScannedTable[] = physicalTables
  .filter(({ schema }) => schema === 'star')
  .map(({ name, key, columns }) => ({
    table: `star.${name}`,
    keys: [key],
    texts: columns.flatMap(column =>
      column.sql === 'text' && !ownColumns.has(column.name) && !referring.has(`${name}.${column.name}`)
        ? [column.name]
        : [],
    ),
  }))

const scannedMart = ({ name, columns }: Mart): ScannedTable => ({
  table: `mart.${name}`,
  keys: columns.flatMap(column => (column.isKey ? [column.name] : [])),
  texts: columns.flatMap(column => (column.type === 'text' ? [column.name] : [])),
})

export const piiScans = (marts: readonly Mart[]): Check[] => [
  {
    name: 'personal_data_in_star',
    severity: 'error',
    summary:
      'No text of star looks like an e-mail address, a national insurance number, a sort code or a telephone number.',
    next,
    parts: starTables.map(scan),
  },
  {
    name: 'personal_data_in_mart',
    severity: 'error',
    summary:
      'No text of a mart looks like an e-mail address, a national insurance number, a sort code or a telephone number.',
    next,
    parts: marts
      .map(scannedMart)
      .filter(({ texts }) => texts.length > 0)
      .map(scan),
  },
]
