/** How much a mart knows of what it reads by id, beside every row: such records are stored one by one, and grow old. */
import { catalogue } from '../contract/catalogue.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { knownAndRead } from '../state/by-id/coverage.ts'
import type { Mart, TableColumn } from './mart.ts'

const byId = catalogue
  .filter(({ read }) => read.strategy === 'byId')
  .map(({ name, table }) => ({ name, tables: tablesOf(table).map(one => `star.${one.name}`) }))

const alias = '"read by id"'

/** None for a mart that reads nothing by id, and for the copy of a dimension. */
export function byIdColumns({ reads, dimensionOf }: Pick<Mart, 'reads' | 'dimensionOf'>): TableColumn[] {
  const names = byId
    .filter(({ tables }) => tables.some(table => reads.includes(table)))
    .map(({ name }) => name)
  if (names.length === 0 || dimensionOf !== undefined) return []
  const what = names.join(', ')
  return [
    {
      name: 'by_id_coverage',
      type: 'double precision',
      isKey: false,
      description: `Share of the known ${what} that are stored, in the whole warehouse; the same in every row, and empty while none is known.`,
      computed: {
        select: `${alias}.share`,
        once: { name: alias, query: knownAndRead(names) },
        join: `cross join ${alias}`,
        from: [],
        reads: [],
      },
    },
    {
      name: 'oldest_read_at',
      type: 'timestamptz',
      isKey: false,
      description: `When the oldest reading of the stored ${what} was made: what changed since may be missing. The same in every row.`,
      computed: { select: `${alias}.oldest`, from: [], reads: [] },
    },
  ]
}
