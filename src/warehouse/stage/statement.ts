/** The statement that fills a stage table: typed columns, derived ones, the hash of the row, and whether it is suspect. */
import type { ShapeNode } from '../../resources/json-shape.ts'
import { quoteNames } from '../sql-text.ts'
import { directColumns, hashedColumns, type Spelling, withDerived } from './columns.ts'
import type { StageTable } from './plan.ts'
import { leavesDiffer, numbersDiffer, numberTexts, objectsEmpty } from './suspicion.ts'

interface Parts {
  /** What stands beside the declared columns, as `expression as name`. */
  readonly columns: readonly string[]
  readonly from: string
  readonly shape: ShapeNode
  /** Further conditions under which a row is suspect. */
  readonly odd: readonly string[]
}

export function stageStatement(stage: StageTable, spelling: Spelling, parts: Parts): string {
  const { name, table } = stage
  const odd = [
    ...leavesDiffer(table, spelling.element),
    ...objectsEmpty(parts.shape, spelling.element),
    ...parts.odd,
  ]
  const direct = [
    ...parts.columns,
    ...directColumns(table, spelling),
    `${numberTexts(table, spelling.element)} as number_texts`,
    `(${odd.length === 0 ? 'false' : odd.join(' or ')}) as odd`,
  ]
  const typed = `select ${direct.join(', ')} from ${parts.from}`
  return `create or replace table ${name} as
    select * exclude (number_texts, odd), odd or ${numbersDiffer(table, 'number_texts')} as suspect,
      hash(${quoteNames(hashedColumns(stage))}) as own_hash
    from (${withDerived(table, typed)})`
}
