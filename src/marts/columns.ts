/** Lists the columns of a mart's table: those of its header, and those that every build adds. */
import { catalogue } from '../contract/catalogue.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { knownAndRead } from '../state/by-id/coverage.ts'
import { currencyJoin } from '../state/marts/currencies.ts'
import { withPart } from '../warehouse/sql-files.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import { isOfDimension, type Label, labelOf } from './dimensions.ts'
import { type Mart, type MartColumn, stampColumns, type TableColumn } from './mart.ts'

const byId = catalogue
  .filter(({ read }) => read.strategy === 'byId')
  .map(({ name, table }) => ({ name, tables: tablesOf(table).map(one => `star.${one.name}`) }))

const alias = '"read by id"'

/** Empty for a mart that reads nothing by id, and for the copy of a dimension. */
export function byIdColumns({ reads, dimensionOf }: Pick<Mart, 'reads' | 'dimensionOf'>): TableColumn[] {
  const names = byId
    .filter(({ tables }) => tables.some(table => reads.includes(table)))
    .map(({ name }) => name)
  if (names.length === 0 || dimensionOf !== undefined) return []
  const what = names.join(', ')
  return [
    {
      name: 'by_id_coverage',
      type: 'double precision',
      isKey: false,
      description: `Share of the known ${what} that are stored, in the whole warehouse; the same in every row, and empty while none is known.`,
      computed: {
        select: `${alias}.share`,
        once: { name: alias, query: knownAndRead(names) },
        join: `cross join ${alias}`,
        from: [],
        reads: [],
      },
    },
    {
      name: 'oldest_read_at',
      type: 'timestamptz',
      isKey: false,
      description: `When the stored ${what} were read, by the oldest one: later changes may be missing. The same in every row.`,
      computed: { select: `${alias}.oldest`, from: [], reads: [] },
    },
  ]
}

const made = (name: string): string => `made.${quoteName(name)}`

/** A record known only by its id uses the id as its name; '-1' stands for a record that was not named. */
function nameOf(column: MartColumn, { table, key, column: label, beside, noun }: Label): TableColumn {
  const alias = quoteName(`of ${column.name}`)
  const id = made(column.name)
  return {
    name: beside,
    type: 'text',
    isKey: false,
    description: `${label === 'name' ? 'Name' : 'Reference'} of the ${noun}; Unknown when the record names none, the id while nothing more is known.`,
    computed: {
      select: `case when ${id} = '-1' then 'Unknown' else coalesce(${alias}.${quoteName(label)}, ${id}) end`,
      join: `left join star.${quoteName(table)} as ${alias} on ${alias}.${quoteName(key)} = ${id}`,
      from: [`star.${table}.${label}`],
      reads: [`star.${table}`],
    },
  }
}

const amounts =
  /(^|_)(value|values|pay|charge|spend|cost|margin|amount|net|vat|gross|outstanding|rate|premium|accrued|committed|gap)(_|$)/

/** Whether a number with this name is an amount of money, not of hours or days. */
export const isAmount = (name: string): boolean =>
  name.endsWith('_value') || (amounts.test(name) && !/(^|_)(hours|days)(_|$)/.test(name))

/** Whether its rows have amounts; of the dimensions, only companies have a currency. */
const hasMoney = ({ dimensionOf, columns }: Mart): boolean =>
  dimensionOf === undefined
    ? columns.some(({ name, type }) => type.startsWith('numeric') && isAmount(name))
    : dimensionOf === 'company_id'

/** Whether its rows name the currency of their amounts. */
export const hasCurrency = (mart: Mart): boolean =>
  hasMoney(mart) && mart.columns.some(({ name }) => name === 'company_id')

const currencyAlias = '"currency of company"'

/** Stands beside the company, so that a sum over companies can separate currencies. */
const currency: TableColumn = {
  name: 'currency',
  type: 'text',
  isKey: false,
  description:
    'Currency of the amounts of the company, from the settings or the country of its address; unknown where neither gives it. Amounts of different currencies do not add up.',
  computed: {
    select: `coalesce(${currencyAlias}.currency, 'unknown')`,
    join: currencyJoin(currencyAlias, made('company_id')),
    from: [],
    reads: [],
  },
}

function flag(name: string, description: string, select: string): TableColumn {
  return { name, type: 'boolean', isKey: false, description, computed: { select, from: [], reads: [] } }
}

const settledAlias = '"settled week"'

/** One row for each settled week. */
const settledWeeks = (): string => `${withPart('settled_week')} select sunday from settled_week`

/** The Sunday of the week that has most of the days of the week up to this day. */
const sundayOf = (day: string): string => `${day} - 3 + cast(7 - extract(isodow from ${day} - 3) as integer)`

/** The same in every row of a week and in every mart: `sql/part/settled_week.sql` has the rule. */
const settledWeek = (lastDay: string): TableColumn => ({
  name: 'is_settled_week',
  type: 'boolean',
  isKey: false,
  description:
    'Whether the week had ended when the service was last read, and as much of its hours was approved as usual: nothing waits, or the share is at most 0.05 below the median of those of the 26 weeks before that had ended at least 28 days earlier. For all companies together, the same in every row of the week; false for a week without approved hours.',
  computed: {
    select: `${settledAlias}.sunday is not null`,
    once: { name: settledAlias, query: settledWeeks() },
    join: `left join ${settledAlias} on ${settledAlias}.sunday = ${sundayOf(lastDay)}`,
    from: ['status', 'week_ending_date', 'net_hours'].map(name => `star.fact_timesheet.${name}`),
    reads: ['star.fact_timesheet'],
  },
})

/** In a mart that counts no work of the week, such as acceptances. */
const endedWeek = flag(
  'is_settled_week',
  'Whether the week had ended when the service was last read; nothing that this mart counts waits for an approval.',
  `${made('week_start_date')} + 7 <= :read_day`,
)

/** The service was read on `:read_day`: a period that ends then or later may still grow. */
const endings: Readonly<Record<string, (mart: Mart) => TableColumn>> = {
  week_ending_date: () => settledWeek(made('week_ending_date')),
  week_start_date: ({ reads }) =>
    reads.includes('star.fact_timesheet') ? settledWeek(`(${made('week_start_date')} + 6)`) : endedWeek,
  month_start_date: () =>
    flag(
      'is_complete_month',
      'Whether the month had ended when the service was last read; until then the last month of a chart is not complete.',
      `${made('month_start_date')} < cast(date_trunc('month', :read_day) as date)`,
    ),
  month_end_date: () =>
    flag(
      'is_complete_month',
      'Whether the month had ended when the service was last read; until then the last month of a chart is not complete.',
      `${made('month_end_date')} < :read_day`,
    ),
}

/** One flag per mart: by the first day of a month if it has both the first and the last. */
const endingOf = (mart: Mart, { name, type }: MartColumn): TableColumn | undefined => {
  const isSecond = name === 'month_end_date' && mart.columns.some(one => one.name === 'month_start_date')
  return type === 'date' && !isSecond ? endings[name]?.(mart) : undefined
}

/** Whether the mart names the record itself, as when one row is one record. */
function isSaid(mart: Mart, column: MartColumn, { key, beside, table }: Label): boolean {
  const own = new Set(mart.columns.map(({ name }) => name))
  const isOwn = column.isKey && table.startsWith('fact_') && own.has('reference')
  return own.has(beside) || mart.dimensionOf === key || isOwn
}

function addedBeside(mart: Mart, column: MartColumn): TableColumn[] {
  const ending = endingOf(mart, column)
  if (ending) return [ending]
  const label = column.type === 'text' ? labelOf(column.name) : undefined
  const name = label === undefined || isSaid(mart, column, label) ? [] : [nameOf(column, label)]
  return column.name === 'company_id' && hasCurrency(mart) ? [...name, currency] : name
}

/** In their order, without the stamps. */
export const ownColumns = (mart: Mart): TableColumn[] => [
  ...mart.columns.flatMap(column => [column, ...addedBeside(mart, column)]),
  ...byIdColumns(mart),
]

export const tableColumns = (mart: Mart): TableColumn[] => [...ownColumns(mart), ...stampColumns]

/** The whole text that decides the rows of a mart. */
export const decidingText = (mart: Mart): string =>
  [
    mart.select,
    ...ownColumns(mart).flatMap(({ computed }) => [
      computed?.select ?? '',
      computed?.join ?? '',
      computed?.once?.query ?? '',
    ]),
  ].join('\n')

/** The dimension of the marts that a column refers to. */
export function dimensionOf({ name, type }: MartColumn): Label | undefined {
  const label = type === 'text' ? labelOf(name) : undefined
  return label && isOfDimension(label) ? label : undefined
}
