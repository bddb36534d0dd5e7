/** Derives change signals from declared relations: a change of one record suggests that a record read by id changed too. */
import { byIdResources, catalogue, findResource } from '../catalogue.ts'
import type { ChangeRelation, Column } from '../fields/column.ts'
import type { Resource } from '../fields/resource.ts'
import { type Table, tablesOf } from '../fields/table.ts'

export interface ChangeSignal {
  /** The column that relates the two, such as `star.fact_timesheet.assignment_id`. */
  readonly name: string
  /** Plural name of the resource whose records may have changed. */
  readonly of: string
  /** Table in star of the record that changed. */
  readonly table: string
  /** Columns of that table, each with the column of the other record's table that must be equal. */
  readonly pairs: readonly (readonly [changed: string, other: string])[]
  readonly share: number
}

function targetOf({ of }: ChangeRelation): Table {
  const target = byIdResources.find(({ name }) => name === of)
  if (!target) throw new Error(`${of} are not read by id, so they cannot have change signals`)
  return target.table
}

function changedBy({ by }: ChangeRelation, table: Table, column: string): { table: Table; column: string } {
  if (by === undefined) return { table, column }
  const source = findResource(by)
  if (!source) throw new Error(`a relation names ${by}, but no resource has that name`)
  return { table: source.table, column: source.table.key }
}

function signalsOf(table: Table, column: string, { relations = [] }: Column): ChangeSignal[] {
  return relations.map(relation => {
    const changed = changedBy(relation, table, column)
    const at: readonly [string, string] = [changed.column, relation.at ?? targetOf(relation).key]
    return {
      name: `star.${table.name}.${column}`,
      of: relation.of,
      table: changed.table.name,
      pairs: relation.within === undefined ? [at] : [at, [relation.within, relation.within]],
      share: relation.share,
    }
  })
}

const signalsFrom = ({ table: root }: Resource): ChangeSignal[] =>
  tablesOf(root).flatMap(table =>
    Object.entries(table.columns).flatMap(([column, declared]) => signalsOf(table, column, declared)),
  )

/** Without duplicates, because several lists of a record may fill one table. */
export const changeSignals: readonly ChangeSignal[] = [
  ...new Map(catalogue.flatMap(signalsFrom).map(signal => [JSON.stringify(signal), signal])).values(),
]
