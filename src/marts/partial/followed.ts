/** What a mart reads, by how a build learns that it changed. */
import { catalogue } from '../../contract/catalogue.ts'
import { tablesOf } from '../../contract/fields/table.ts'
import { hasLedgerState } from '../../state/marts/source-state.ts'
import { isMember } from '../../warehouse/schema/physical.ts'
import type { Mart } from '../mart.ts'

/** Resources that write a table, by its name. References of any record add rows to a dimension. */
const writers = new Map<string, Set<string>>()
for (const { name, table } of catalogue)
  for (const one of tablesOf(table))
    for (const place of isMember(one) ? [`history.${one.name}`] : [`star.${one.name}`, `history.${one.name}`])
      writers.set(place, (writers.get(place) ?? new Set()).add(name))

export interface Followed {
  /** Their merges list the records that changed. */
  readonly resources: ReadonlySet<string>
  /** Small enough to be compared whole. */
  readonly dimensions: readonly string[]
  /** Nothing tells of their changes. */
  readonly others: readonly string[]
}

/** The marts and ledger tables that it reads have a state, which is compared. */
const hasState = (table: string): boolean => table.startsWith('mart.') || hasLedgerState(table)

export function followed({ reads }: Pick<Mart, 'reads'>): Followed {
  const dimensions = reads.filter(name => name.startsWith('star.dim_'))
  const rest = reads.filter(name => !dimensions.includes(name))
  return {
    resources: new Set(rest.flatMap(name => [...(writers.get(name) ?? [])])),
    dimensions,
    others: rest.filter(name => !writers.has(name) && !hasState(name)),
  }
}
