/** Reduces a warehouse to the tables of a few resources: those that their records fill, and the dimensions that they refer to. */
import { basename } from 'node:path'
import { findResource } from '../../src/contract/catalogue.ts'
import { changeSignals } from '../../src/contract/derived/change-signals.ts'
import { edges } from '../../src/contract/derived/discovery.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Table } from '../../src/contract/fields/table.ts'
import { ledgerTables } from '../../src/state/tables.ts'
import { memberTables } from '../../src/warehouse/schema/physical.ts'
import { keyedTables } from '../../src/warehouse/schema/unique-key.ts'
import { sqlFiles } from '../../src/warehouse/sql-files.ts'
import type { ResourceName } from './scenario.ts'

/** Adds a table, its child tables, and the dimensions that they refer to. */
function addWithDimensions(root: Table, known: Set<Table>): void {
  for (const { table } of keyedTables(root)) {
    if (known.has(table)) continue
    known.add(table)
    for (const { member } of Object.values(table.columns)) {
      const dimension = member && memberTables.get(member.dimension)
      if (dimension) addWithDimensions(dimension, known)
    }
  }
}

/** Tables that every warehouse needs: attributes and texts of all resources, seed data, and the ledger. */
const shared: readonly string[] = [
  ...['attribute_leaf', 'attribute_leaf_history', 'text', 'text_history'],
  ...sqlFiles('seed').map(({ name }) => basename(name, '.sql')),
  ...ledgerTables.map(({ name }) => name),
]

/** Names of the tables that records of these resources may fill. */
function namesFor(only: readonly ResourceName[]): ReadonlySet<string> {
  const known = new Set<Table>()
  for (const name of ['key', ...only]) addWithDimensions((findResource(name) as Resource).table, known)
  const isIncluded = (name: string): boolean => only.some(one => one === name)
  const referencing = [
    ...edges.company.filter(({ resource }) => isIncluded(resource)).map(({ table }) => table),
    ...changeSignals.filter(({ of }) => isIncluded(of)).map(({ table }) => table),
  ]
  const tables = [...known].flatMap(({ name, piiTable }) => [name, piiTable, `${piiTable}_history`])
  return new Set([...shared, ...referencing, ...tables])
}

interface CatalogRow {
  readonly schema?: unknown
  readonly name?: unknown
  readonly kind?: unknown
}

/** Statements that drop all tables which these resources do not need. If one is missing after all, the seed fails. */
export async function dropOtherTables(
  only: readonly ResourceName[],
  rows: (sql: string) => Promise<readonly CatalogRow[]>,
): Promise<string[]> {
  const names = namesFor(only)
  const all = await rows(
    `select table_schema as schema, table_name as name, table_type as kind from information_schema.tables
     where table_schema in ('star', 'pii', 'history') order by table_type desc, 1, 2`,
  )
  return all
    .filter(({ name, kind }) => kind === 'VIEW' || !names.has(String(name)))
    .map(
      ({ schema, name, kind }) =>
        `drop ${kind === 'VIEW' ? 'view' : 'table'} if exists ${schema}."${name}" cascade`,
    )
}
