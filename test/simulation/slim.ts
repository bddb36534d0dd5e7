/** A warehouse with the tables of a few resources: those that their records fill, and the dimensions that they name. */
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
import type { ResourceName } from './climate.ts'

/** A table with all below it, and the dimensions that any of them names. */
function withNamed(root: Table, known: Set<Table>): void {
  for (const { table } of keyedTables(root)) {
    if (known.has(table)) continue
    known.add(table)
    for (const { member } of Object.values(table.columns)) {
      const dimension = member && memberTables.get(member.dimension)
      if (dimension) withNamed(dimension, known)
    }
  }
}

/** Leaves and texts of records of every kind, what comes with the program, and events. */
const shared: readonly string[] = [
  ...['attribute_leaf', 'attribute_leaf_history', 'text', 'text_history'],
  ...sqlFiles('seed').map(({ name }) => basename(name, '.sql')),
  ...ledgerTables.map(({ name }) => name),
]

/** Names of tables that records of these resources may come to. */
function namesFor(only: readonly ResourceName[]): ReadonlySet<string> {
  const known = new Set<Table>()
  for (const name of ['key', ...only]) withNamed((findResource(name) as Resource).table, known)
  const isHere = (name: string): boolean => only.some(one => one === name)
  const naming = [
    ...edges.company.filter(({ resource }) => isHere(resource)).map(({ table }) => table),
    ...changeSignals.filter(({ of }) => isHere(of)).map(({ table }) => table),
  ]
  const tables = [...known].flatMap(({ name, piiTable }) => [name, piiTable, `${piiTable}_history`])
  return new Set([...shared, ...naming, ...tables])
}

interface Row {
  readonly schema?: unknown
  readonly name?: unknown
  readonly kind?: unknown
}

/** Statements that leave only what these resources need; a statement that lacks a table fails, and the seed with it. */
export async function dropOthers(
  only: readonly ResourceName[],
  rows: (sql: string) => Promise<readonly Row[]>,
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
