/** Tables whose rows are computed from others: views and marts, with what each column is computed from. */

import { fillTokens } from '../marts/inputs.ts'
import { inOrder, type Mart, stampColumns } from '../marts/mart.ts'
import type { Engine } from '../warehouse/engine.ts'
import { tablesNamed } from '../warehouse/schema/schemas.ts'
import { lineageOf } from './lineage.ts'
import type { HeldTable } from './structure.ts'

export interface Computed {
  readonly table: HeldTable
  /** Qualified names of what each column is computed from, in the order of the columns. */
  readonly from: readonly (readonly string[])[]
  /** Qualified names of all tables that the statement names, also of those that only decide which rows there are. */
  readonly reads: readonly string[]
  readonly mart?: Mart
}

/** Any moment will do: lineage does not depend on it. */
const moment = { asOf: '1970-01-01T00:00:00.000Z', today: '1970-01-01' }

/** What `build` makes of a mart's declaration, which may not be built yet. */
const martTable = ({ name, summary, grain, columns }: Mart): HeldTable => ({
  schema: 'mart',
  name,
  kind: 'table',
  description: `${grain.charAt(0).toUpperCase()}${grain.slice(1).replace(/\.$/, '')}. ${summary}`,
  columns: [...columns, ...stampColumns],
})

/** Views and marts, each after those that it reads. Throws for a text that DuckDB cannot parse. */
export async function computedTables(
  engine: Engine,
  held: readonly HeldTable[],
  marts: readonly Mart[],
): Promise<Computed[]> {
  const known = new Map(
    [...held, ...marts.map(martTable)].map(table => [
      `${table.schema}.${table.name}`,
      table.columns.map(({ name }) => name),
    ]),
  )
  const columnsOf = (table: string): readonly string[] => known.get(table) ?? []
  const views = held.filter(({ sql }) => sql !== undefined)
  const computed: Computed[] = []
  for (const table of views) {
    const sql = table.sql ?? ''
    computed.push({ table, from: await lineageOf(engine, sql, columnsOf), reads: tablesNamed(sql) })
  }
  for (const mart of inOrder(marts)) {
    const from = await lineageOf(engine, fillTokens(mart.select, moment), columnsOf)
    computed.push({ table: martTable(mart), from, reads: mart.reads, mart })
  }
  return computed
}
