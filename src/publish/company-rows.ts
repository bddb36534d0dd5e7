/** Copies the rows of one company into a new warehouse, and verifies that it contains no other company. */
import { MusterError } from '../lib/errors.ts'
import type { LedgerColumn } from '../state/declaration.ts'
import { isPublished, ledgerTables, type NamedTable } from '../state/tables.ts'
import { definitionsIn } from '../warehouse/duckdb/catalogue.ts'
import type { Engine, TypedColumn } from '../warehouse/engine.ts'
import { type CompanyRows, rowsOfCompany } from '../warehouse/schema/company-rows.ts'
import { physicalTables } from '../warehouse/schema/physical.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteName, quoteNames, quoteText } from '../warehouse/sql-text.ts'
import { type CopiedRows, type CopySource, copyTable, requireSameStructure } from './copy.ts'

interface CompanyTable {
  readonly schema: 'star' | 'history' | 'ops'
  readonly name: string
  readonly columns: readonly TypedColumn[]
  /** Expressions of the columns, in their order. */
  readonly values: readonly string[]
  readonly where: string
}

/** Replaces figures of all companies in columns that must have a value. */
const blanks: Readonly<Record<string, string>> = {
  text: `''`,
  boolean: 'false',
  timestamptz: `timestamptz '1970-01-01 00:00:00Z'`,
  date: `date '1970-01-01'`,
}

const blank = ({ sql, isOptional }: LedgerColumn): string =>
  isOptional ? `cast(null as ${sql})` : (blanks[sql] ?? `cast(0 as ${sql})`)

const has = ({ columns }: NamedTable, name: string): boolean => Object.hasOwn(columns, name)

/** Selects rows of the company, and rows of no company. */
function conditionOf(table: NamedTable, id: string, rows: CompanyRows): string | undefined {
  if (has(table, 'company_id')) return `company_id = ${quoteText(id)}`
  if (has(table, 'record_id')) return `record_id in (${rows.records})`
  return table.shared && 'true'
}

function companyLedgerTables(table: NamedTable, id: string, rows: CompanyRows): CompanyTable[] {
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

function companyTables(id: string): CompanyTable[] {
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
  return [...declared, ...ledgerTables.flatMap(table => companyLedgerTables(table, id, rows))]
}

function selectOf({ columns, values, where, ...table }: CompanyTable): string {
  const shown = columns.map(({ name }, index) => `${values[index]} as ${quoteName(name)}`)
  return `(select ${shown.join(', ')} from ${qualified(table)} where ${where}) as kept`
}

/** `target` is migrated. Reads one state of the source. Throws MusterError. */
export async function copyCompany(
  source: CopySource,
  target: Engine,
  { id, onTable }: { readonly id: string; readonly onTable: (copied: CopiedRows) => void },
): Promise<void> {
  await requireSameStructure(source, target)
  await source.inOneSnapshot(async source => {
    for (const table of companyTables(id))
      onTable(await copyTable(source, target, { table, rows: selectOf(table) }))
  })
}

/** Deletes ledger rows that were copied only to build the marts. */
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

/**
 * Searches every text of a copy for the ids of `others`, the other companies. Throws MusterError with the column if
 * it finds one.
 */
export async function requireNoOthers(engine: Engine, others: readonly string[]): Promise<void> {
  if (others.length === 0) return
  await engine.run('create or replace temporary table other_company as select unnest($1::varchar[]) as id', [
    JSON.stringify(others),
  ])
  for (const { schema, name, kind, columns } of await definitionsIn(engine)) {
    const texts = columns.filter(({ type }) => type === 'VARCHAR')
    if (kind === 'view' || !isPublished(schema, name) || texts.length === 0) continue
    const names = texts.map(({ name }) => name)
    // All columns in one join: a join for each, over the sixty of an assignment, took 200 MB for a few hundred rows.
    const [found] = await engine.rows<{ place: string }>(
      `select place from (
         select unnest([${names.map(quoteText).join(', ')}]) as place, unnest([${quoteNames(names)}]) as text
         from ${quoteName(schema)}.${quoteName(name)}
       ) where text in (select id from other_company) limit 1`,
    )
    if (!found) continue
    throw new MusterError({
      what: `the copy would contain the id of another company, in ${schema}.${name}.${found.place}`,
      where: engine.location,
      next: 'nothing was published; please report it',
    })
  }
  await engine.run('drop table other_company')
}
