/** Derives checks from the declarations, one statement a table: a new table is checked without an edit here. */
import { catalogue } from '../../contract/catalogue.ts'
import { unknownValueQuery } from '../../state/evidence/drift.ts'
import { countedDays } from '../../state/reporting-zone.ts'
import { historyOf, type PhysicalTable, starColumns } from '../../warehouse/schema/physical.ts'
import { references } from '../../warehouse/schema/references.ts'
import { keyedTables } from '../../warehouse/schema/unique-key.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { byTable, type Check, type CheckPart, currentTables, part, quoted } from './check.ts'

interface AcceptedValues {
  /** Name in star. */
  readonly table: string
  readonly key: string
  readonly column: string
  readonly values: readonly string[]
}

/** Columns of star whose values come from a closed list, each once even if several resources fill the table. */
const acceptedValues: readonly AcceptedValues[] = [
  ...new Map(
    catalogue
      .flatMap(({ table: root }) => keyedTables(root))
      .flatMap(({ table }) => {
        const starColumnNames = new Set(starColumns(table).map(({ name }) => name))
        return Object.entries(table.columns).flatMap(([column, { values }]): [string, AcceptedValues][] =>
          values && starColumnNames.has(column)
            ? [[`${table.name}.${column}`, { table: table.name, key: table.key, column, values }]]
            : [],
        )
      }),
  ).values(),
]

const keyOf = new Map(currentTables.map(({ schema, name, key }) => [`${schema}.${name}`, key]))

/** The key of the row, and the name of the wrong column. */
const recordOf = (table: string, column: string): string =>
  `t.${quoteName(keyOf.get(table) ?? '')} || ${quoteText(`, ${column}`)} as record`

function repeatedKeys({ schema, name, key }: PhysicalTable): CheckPart {
  const table = `${schema}.${name}`
  return part(
    table,
    `select coalesce(t.${quoteName(key)}, 'no key') as record from ${quoted(table)} as t
     group by t.${quoteName(key)} having count(*) > 1 or t.${quoteName(key)} is null`,
  )
}

const dimensions = new Set(
  currentTables
    .filter(({ columns }) => columns.some(({ name }) => name === 'is_inferred'))
    .map(({ name }) => name),
)

/** Inferred members, and the member '-1', refer to nothing. */
const isRead = (table: string): string =>
  dimensions.has(table)
    ? `and not t.is_inferred and t.${quoteName(keyOf.get(`star.${table}`) ?? '')} <> '-1'`
    : ''

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

const otherValues = byTable(
  acceptedValues.map(({ table, column, values }) => {
    const from = `star.${table}`
    return part(
      from,
      `select ${recordOf(from, column)} from ${quoted(from)} as t
       where not t.is_deleted and t.${quoteName(column)} not in (${values.map(quoteText).join(', ')})`,
    )
  }),
)

/** A day is empty beside its timestamp if it is not plausible. */
const implausibleDays = byTable(
  currentTables
    .filter(({ schema }) => schema === 'star')
    .flatMap(({ name, columns }) => {
      const from = `star.${name}`
      const names = new Set(columns.map(one => one.name))
      return (countedDays.get(name) ?? [])
        .filter(([day, { at }]) => names.has(day) && names.has(at))
        .map(([day, { at }]) =>
          part(
            from,
            `select ${recordOf(from, day)} from ${quoted(from)} as t
             where not t.is_deleted and t.${quoteName(at)} is not null and t.${quoteName(day)} is null`,
          ),
        )
    }),
)

/** Superseded versions of one key must not overlap; one may end when the next begins. */
function overlaps(table: PhysicalTable): CheckPart {
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

/** A record that was read once stays in star, marked as deleted if it is missing at the source. */
function withoutCurrent(table: PhysicalTable): CheckPart {
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

const snapshotTables = new Set(
  catalogue.flatMap(({ read, table }) => (read.strategy === 'snapshot' ? [table.name] : [])),
)

/** A row that a snapshot no longer has leaves star for history; other records stay as tombstones. */
const isLasting = ({ schema, name, isUnique, owner, key }: PhysicalTable): boolean =>
  schema === 'star' && isUnique && owner === key && !snapshotTables.has(name)

export const derivedChecks: readonly Check[] = [
  {
    name: 'keys_unique',
    severity: 'error',
    summary: 'Every row of star and pii has a key that no other row has.',
    next: 'rebuild the table with muster replay; if keys are still doubled, report it as an error of muster',
    parts: currentTables.filter(({ isUnique }) => isUnique).map(repeatedKeys),
  },
  {
    name: 'list_ids_unique',
    severity: 'warn',
    summary: 'The service gives each id of a list element only once.',
    next: 'report it to the service; both rows are stored, so sums over the list count both',
    parts: currentTables.filter(({ isUnique }) => !isUnique).map(repeatedKeys),
  },
  {
    name: 'references_resolve',
    severity: 'error',
    summary: "Every reference points to a row of its dimension, or is '-1'.",
    next: 'run muster replay; joins lose these rows until then',
    parts: dangling,
  },
  {
    name: 'accepted_values',
    severity: 'warn',
    summary: 'A column with a documented list of values holds one of them or nothing.',
    next: `see muster sql "${unknownValueQuery}": marts that filter by the column need the new value`,
    parts: otherValues,
  },
  {
    name: 'dates_plausible',
    severity: 'warn',
    summary: 'Dates lie within the setting plausibleDates; others are no day in star and marts.',
    next: 'read the record with muster get and have the date corrected in the service, or widen plausibleDates',
    parts: implausibleDays,
  },
  {
    name: 'history_in_order',
    severity: 'error',
    summary: 'Superseded versions of a row have a beginning and an end, and do not overlap.',
    next: 'report the record as an error of muster; queries about that time count both versions, but star is right',
    parts: currentTables.map(overlaps),
  },
  {
    name: 'history_has_current',
    severity: 'error',
    summary: 'A record with superseded versions has exactly one row in star, unless its list is a snapshot.',
    next: 'run muster replay, or read the record again with muster get',
    parts: currentTables.filter(isLasting).map(withoutCurrent),
  },
]
