/** Checks that follow from the declarations: one statement a table, so that a new table is checked without a line here. */
import { acceptedValues } from '../../warehouse/schema/accepted-values.ts'
import { historyOf, type PhysicalTable, physicalTables } from '../../warehouse/schema/physical.ts'
import { references } from '../../warehouse/schema/references.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import type { Check, Part } from './check.ts'

const isHistory = ({ schema, name }: PhysicalTable): boolean =>
  schema === 'history' || name.endsWith('_history')

const held = physicalTables.filter(table => !isHistory(table))
const keyOf = new Map(held.map(({ schema, name, key }) => [`${schema}.${name}`, key]))

/** `also` are the other tables that it reads. */
function part(table: string, select: string, also: readonly string[] = []): Part {
  return { subject: table, reads: [table, ...also], select }
}

const quoted = (table: string): string => {
  const [schema = '', name = ''] = table.split('.')
  return `${schema}.${quoteName(name)}`
}

/** A column that names the row and the column that is wrong. */
const recordOf = (table: string, column: string): string =>
  `t.${quoteName(keyOf.get(table) ?? '')} || ${quoteText(`, ${column}`)} as record`

function repeatedKeys({ schema, name, key }: PhysicalTable): Part {
  const table = `${schema}.${name}`
  return part(
    table,
    `select coalesce(t.${quoteName(key)}, 'no key') as record from ${quoted(table)} as t
     group by t.${quoteName(key)} having count(*) > 1 or t.${quoteName(key)} is null`,
  )
}

/** Statements about one table, as one. */
function byTable(parts: readonly Part[]): Part[] {
  const subjects = [...new Set(parts.map(({ subject }) => subject))]
  return subjects.map(subject => {
    const own = parts.filter(one => one.subject === subject)
    return {
      subject,
      reads: [...new Set(own.flatMap(({ reads }) => reads))],
      select: own.map(({ select }) => select).join('\nunion all\n'),
    }
  })
}

const stubbed = new Set(
  held.filter(({ columns }) => columns.some(({ name }) => name === 'is_stub')).map(({ name }) => name),
)

/** Rows known by reference only, and the unknown member, refer to nothing. */
const isRead = (table: string): string =>
  stubbed.has(table) ? `and not t.is_stub and t.${quoteName(keyOf.get(`star.${table}`) ?? '')} <> '-1'` : ''

const dangling = byTable(
  references.map(({ table, column, target }) => {
    const [from, to] = [`star.${table}`, `star.${target.name}`]
    return part(
      from,
      `select ${recordOf(from, column)} from ${quoted(from)} as t
       where not t.is_deleted ${isRead(table)} and not exists (
         select 1 from ${quoted(to)} as d where d.${quoteName(target.key)} = t.${quoteName(column)})`,
      from === to ? [] : [to],
    )
  }),
)

const foreign = byTable(
  acceptedValues.map(({ table, column, values }) => {
    const from = `star.${table}`
    return part(
      from,
      `select ${recordOf(from, column)} from ${quoted(from)} as t
       where not t.is_deleted and t.${quoteName(column)} not in (${values.map(quoteText).join(', ')})`,
    )
  }),
)

/** Superseded versions of one key follow each other; they may touch. */
function overlaps(table: PhysicalTable): Part {
  const { schema, name } = historyOf(table)
  const key = quoteName(table.key)
  return part(
    `${schema}.${name}`,
    `select v.${key} as record from (
       select h.${key}, h.valid_from, h.valid_to,
         lead(h.valid_from) over (partition by h.${key} order by h.valid_from, h.valid_to) as next_from
       from ${quoted(`${schema}.${name}`)} as h
     ) as v
     where v.valid_from is null or v.valid_to is null or v.valid_from > v.valid_to or v.next_from < v.valid_to`,
  )
}

/** A record that was once read is still there, as gone if it is gone. */
function withoutCurrent(table: PhysicalTable): Part {
  const { schema, name } = historyOf(table)
  const [history, current] = [`${schema}.${name}`, `${table.schema}.${table.name}`]
  const key = quoteName(table.key)
  return part(
    history,
    `select distinct h.${key} as record from ${quoted(history)} as h
     where (select count(*) from ${quoted(current)} as t where t.${key} = h.${key}) <> 1`,
    [current],
  )
}

const isRecord = (table: PhysicalTable): boolean =>
  table.schema === 'star' && table.isUnique && table.owner === table.key

export const derivedChecks: readonly Check[] = [
  {
    name: 'keys_unique',
    severity: 'error',
    summary: 'Every row of star and pii has a key, and no other row has the same.',
    next: 'rebuild the table with muster replay; rows that come back doubled are a fault of muster to report',
    parts: held.filter(({ isUnique }) => isUnique).map(repeatedKeys),
  },
  {
    name: 'list_ids_unique',
    severity: 'warn',
    summary: 'An id that the service gives to an element of a list is not given twice.',
    next: 'tell the service; both rows are kept, and sums over the list count both',
    parts: held.filter(({ isUnique }) => !isUnique).map(repeatedKeys),
  },
  {
    name: 'references_resolve',
    severity: 'error',
    summary: "What a row refers to is a row of the dimension, or '-1'.",
    next: 'run muster replay for the resource; joins lose these rows until then',
    parts: dangling,
  },
  {
    name: 'accepted_values',
    severity: 'error',
    summary: 'A column with a closed list of words holds one of them or nothing.',
    next: 'see muster sql "select * from ops.schema_drift": a new word needs a place in the marts that filter by it',
    parts: foreign,
  },
  {
    name: 'history_in_order',
    severity: 'error',
    summary: 'Superseded versions of a row have a beginning and an end, and do not overlap.',
    next: 'questions about that time count both versions: report the record, and trust star meanwhile',
    parts: held.map(overlaps),
  },
  {
    name: 'history_has_current',
    severity: 'error',
    summary: 'A record with superseded versions has exactly one row in star.',
    next: 'run muster replay for the resource, or read the record again with muster get',
    parts: held.filter(isRecord).map(withoutCurrent),
  },
]
