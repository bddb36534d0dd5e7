/** Copies what is about one company from a warehouse of several into a new one. */
import type { LedgerColumn } from '../../state/declaration.ts'
import { ledgerTables, type NamedTable } from '../../state/tables.ts'
import type { Engine, TypedColumn } from '../../warehouse/engine.ts'
import { type CompanyRows, rowsOfCompany } from '../../warehouse/schema/company-rows.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { qualified } from '../../warehouse/schema/structure.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { type Copied, type CopySource, copyTable, requireSameStructure } from '../copy/copy.ts'

interface Kept {
  readonly schema: 'star' | 'history' | 'ops'
  readonly name: string
  readonly columns: readonly TypedColumn[]
  /** Expressions of the columns, in their order. */
  readonly values: readonly string[]
  readonly where: string
}

/** Stands for a figure of all companies where a column has to have a value. */
const blanks: Readonly<Record<string, string>> = {
  text: `''`,
  boolean: 'false',
  timestamptz: `timestamptz '1970-01-01 00:00:00Z'`,
  date: `date '1970-01-01'`,
}

const blank = ({ sql, isOptional }: LedgerColumn): string =>
  isOptional ? `cast(null as ${sql})` : (blanks[sql] ?? `cast(0 as ${sql})`)

const has = ({ columns }: NamedTable, name: string): boolean => Object.hasOwn(columns, name)

/** Rows that are of the company, or of nobody. */
function conditionOf(table: NamedTable, id: string, rows: CompanyRows): string | undefined {
  if (has(table, 'company_id')) return `company_id = ${quoteText(id)}`
  if (has(table, 'record_id')) return `record_id in (${rows.records})`
  return table.shared && 'true'
}

function keptOfLedger(table: NamedTable, id: string, rows: CompanyRows): Kept[] {
  const { schema, name, lifetime, shared } = table
  const where = conditionOf(table, id, rows)
  if (schema === 'pii' || lifetime === 'local' || where === undefined) return []
  const columns = Object.entries(table.columns)
  const value = (column: string, declared: LedgerColumn): string => {
    if (!shared || shared.columns.includes(column)) return quoteName(column)
    return shared.atMostOne?.includes(column) ? `least(1, ${quoteName(column)})` : blank(declared)
  }
  return [
    {
      schema,
      name,
      where,
      columns: columns.map(([name, { sql }]) => ({ name, sql })),
      values: columns.map(([name, column]) => value(name, column)),
    },
  ]
}

function keptTables(id: string): Kept[] {
  const rows = rowsOfCompany(id)
  const declared = physicalTables.flatMap(({ schema, name, columns }) =>
    schema === 'pii'
      ? []
      : [
          {
            schema,
            name,
            columns,
            where: rows.of(name),
            values: columns.map(column => rows.column(name, column.name)),
          },
        ],
  )
  return [...declared, ...ledgerTables.flatMap(table => keptOfLedger(table, id, rows))]
}

function selectOf({ columns, values, where, ...table }: Kept): string {
  const shown = columns.map(({ name }, index) => `${values[index]} as ${quoteName(name)}`)
  return `(select ${shown.join(', ')} from ${qualified(table)} where ${where}) as kept`
}

/** `target` is migrated. Reads one state of the source. Throws MusterError. */
export async function copyCompany(
  source: CopySource,
  target: Engine,
  { id, onTable }: { readonly id: string; readonly onTable: (copied: Copied) => void },
): Promise<void> {
  await requireSameStructure(source, target)
  await source.atOneMoment(async source => {
    for (const table of keptTables(id))
      onTable(await copyTable(source, target, { table, rows: selectOf(table) }))
  })
}

/** What was there for the marts only. */
export async function dropUnshown(target: Engine): Promise<void> {
  const unshown = ledgerTables.filter(
    table =>
      table.schema !== 'pii' &&
      table.lifetime !== 'local' &&
      !has(table, 'company_id') &&
      !table.shared?.isShown,
  )
  for (const table of unshown.filter(({ schema }) => schema === 'ops'))
    await target.run(`delete from ${qualified(table)}`)
}
