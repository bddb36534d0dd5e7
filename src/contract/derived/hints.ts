/** Which changes hint at a change of a record that is read by id: the ties that columns declare, as pairs of tables. */
import { catalogue, findResource, hydrated } from '../catalogue.ts'
import type { Column, Tie } from '../fields/column.ts'
import type { Resource } from '../fields/resource.ts'
import { type Table, tablesOf } from '../fields/table.ts'

export interface Hint {
  /** `star.fact_timesheet.assignment_id`: the column that ties the two. */
  readonly name: string
  /** Plural name of the resource whose records may have changed. */
  readonly of: string
  /** Table in star of what changed. */
  readonly table: string
  /** Columns of that table, and those of the table of the other that have to be equal. */
  readonly pairs: readonly (readonly [changed: string, other: string])[]
  readonly share: number
}

function targetOf({ of }: Tie): Table {
  const target = hydrated.find(({ name }) => name === of)
  if (!target) throw new Error(`${of} are not read by id: nothing can hint at them`)
  return target.table
}

function changedBy({ by }: Tie, table: Table, column: string): { table: Table; column: string } {
  if (by === undefined) return { table, column }
  const source = findResource(by)
  if (!source) throw new Error(`there are no ${by} that could hint at anything`)
  return { table: source.table, column: source.table.key }
}

function hintsOf(table: Table, column: string, { ties = [] }: Column): Hint[] {
  return ties.map(tie => {
    const changed = changedBy(tie, table, column)
    const at: readonly [string, string] = [changed.column, tie.at ?? targetOf(tie).key]
    return {
      name: `star.${table.name}.${column}`,
      of: tie.of,
      table: changed.table.name,
      pairs: tie.within === undefined ? [at] : [at, [tie.within, tie.within]],
      share: tie.share,
    }
  })
}

const hintsFrom = ({ table: root }: Resource): Hint[] =>
  tablesOf(root).flatMap(table =>
    Object.entries(table.columns).flatMap(([column, declared]) => hintsOf(table, column, declared)),
  )

/** Each once, also of a table that several lists of a record feed. */
export const hints: readonly Hint[] = [
  ...new Map(catalogue.flatMap(hintsFrom).map(hint => [JSON.stringify(hint), hint])).values(),
]
