/** The statements of marts for Spark, over the tables of a lake; and which marts have none, and why. */
import { ledgerOfMarts } from '../../state/tables.ts'
import { stateHistory } from '../../warehouse/schema/physical.ts'
import { tablesNamed } from '../../warehouse/schema/schemas.ts'
import { quoteNames } from '../../warehouse/sql-text.ts'
import { ownColumns } from '../columns.ts'
import { replaceTokens } from '../inputs.ts'
import { inOrder, type Mart, stampColumns, type TableColumn } from '../mart.ts'
import { rowsStatement } from '../table.ts'
import { sparkSql } from './dialect.ts'

/** What differs by connection and by day; the runner and dbt bind it in their own way. */
export const sparkInputs = ['as_of', 'today', 'zone', 'first_day', 'last_day', 'fiscal_month'] as const
export type SparkInput = (typeof sparkInputs)[number]

export interface SparkMart {
  readonly mart: Mart
  readonly columns: readonly TableColumn[]
  /** Tables of the lake and marts that it reads, as `star.fact_timesheet`, sorted. */
  readonly reads: readonly string[]
  /** A select over relations that are named as `star_fact_timesheet`. */
  select(input: (name: SparkInput) => string): string
}

export interface SparkMarts {
  /** Each after those it reads. */
  readonly marts: readonly SparkMart[]
  readonly leftOut: readonly { readonly name: string; readonly why: string }[]
}

const isInLake = (name: string): boolean =>
  /^(?:star|mart)\./.test(name) || ledgerOfMarts.has(name) || stateHistory.has(name)

/** A midnight in UTC is a day without a time, in every zone. */
const dayOf = (at: string, zone: string, { from, until }: { from: string; until: string }): string =>
  `case when ${at} >= ${from} and ${at} < ${until} then cast(case when date_trunc('day', ${at}) = ${at} then ${at} else from_utc_timestamp(${at}, ${zone}) end as date) end`

function fillForSpark(select: string, input: (name: SparkInput) => string): string {
  const day = (name: SparkInput): string => `cast(${input(name)} as date)`
  const asOf = `cast(${input('as_of')} as timestamptz)`
  const plausible = {
    from: `cast(${day('first_day')} as timestamptz)`,
    until: `cast(${day('last_day')} + 1 as timestamptz)`,
  }
  return replaceTokens(select, {
    asOf,
    today: day('today'),
    readDay: `cast(from_utc_timestamp(${asOf}, ${input('zone')}) as date)`,
    fiscalMonth: `cast(${input('fiscal_month')} as integer)`,
    slice: () => 'true',
    day: at => dayOf(at, input('zone'), plausible),
    local: at => `from_utc_timestamp(${at}, ${input('zone')})`,
    days: (later, earlier) => `datediff(${later}, ${earlier})`,
    // The order gives a row the same number in each reader of the table expression.
    number: columns => `row_number() over (order by ${columns})`,
  })
}

const opsOf = ({ computed }: TableColumn): string[] =>
  tablesNamed([computed?.once?.query ?? '', computed?.join ?? ''].join(' ')).filter(name => !isInLake(name))

/** Without those that tell how much of the service was read: the ledger that counts it is not in the lake. */
function sparkColumns(mart: Mart): TableColumn[] {
  const columns = ownColumns(mart)
  const missing = columns.filter(column => opsOf(column).length > 0)
  const gone = missing.flatMap(({ computed }) => computed?.once?.name ?? [])
  return columns.filter(({ computed }) => !gone.some(alias => computed?.select.includes(alias)))
}

function sparkMart(mart: Mart): SparkMart {
  const columns = sparkColumns(mart)
  const stamps = [`'${mart.definitionId}'`, ':as_of', 'current_timestamp()']
  const names = quoteNames([...columns, ...stampColumns].map(({ name }) => name))
  const rows = `select * from (\n${rowsStatement(mart, { columns, stamps })}\n) as filled(${names})`
  return {
    mart,
    columns,
    reads: [...new Set(tablesNamed(rows))].sort(),
    select: input => sparkSql(fillForSpark(rows, input)),
  }
}

/** Why the rows of a mart cannot be computed from a lake; undefined when they can. */
function whyNot({ reads }: SparkMart): string | undefined {
  const missing = reads.filter(name => !isInLake(name))
  return missing.length === 0 ? undefined : `reads ${missing.join(', ')}, not in the lake`
}

/** Marts that read one that is left out read it from the lake. */
export function sparkMarts(marts: readonly Mart[]): SparkMarts {
  const all = inOrder(marts).map(sparkMart)
  const leftOut = all.flatMap(one => {
    const why = whyNot(one)
    return why === undefined ? [] : [{ name: one.mart.name, why }]
  })
  const without = new Set(leftOut.map(({ name }) => name))
  return { marts: all.filter(({ mart }) => !without.has(mart.name)), leftOut }
}
