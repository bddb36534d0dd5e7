/** The statement that fills a stage table: typed columns, derived ones, the hash of the row, and whether it is suspect. */
import { quoteNames } from '../../warehouse/sql-text.ts'
import { directColumns, hashedColumns, type Spelling, withDerived } from './columns.ts'
import type { StageTable } from './plan.ts'
import type { Reader } from './reader.ts'
import { leavesDiffer, numbersDiffer, numbersRead } from './suspicion.ts'

interface Parts extends Pick<Reader, 'numbers'> {
  /** What stands beside the declared columns, as `expression as name`. */
  readonly columns: readonly string[]
  readonly from: string
  /** Further conditions under which a row is suspect. */
  readonly odd: readonly string[]
}

export function stageStatement(stage: StageTable, spelling: Spelling, parts: Parts): string {
  const { name, table } = stage
  const odd = [...leavesDiffer(table, spelling.element, parts.numbers), ...parts.odd]
  const direct = [
    ...parts.columns,
    ...directColumns(table, spelling),
    `${numbersRead(table, spelling.element, parts.numbers)} as numbers_read`,
    `(${odd.length === 0 ? 'false' : odd.join(' or ')}) as odd`,
  ]
  const typed = `select ${direct.join(', ')} from ${parts.from}`
  return `create or replace table ${name} as
    select * exclude (numbers_read, odd), odd or ${numbersDiffer(table, 'numbers_read', parts.numbers)} as suspect,
      hash(${quoteNames(hashedColumns(stage))}) as own_hash
    from (${withDerived(table, typed)})`
}
